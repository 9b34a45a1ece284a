#include "package/manifest_reader.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "json/file_text.h"
#include "json/json_fields.h"
#include "package/manifest.h"
#include "package/output/package_files.h"

namespace kiln {
namespace fs = std::filesystem;

namespace {

std::string text_of(const Json &value) {
    if (value.is_null()) return "";
    return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void flatten(const Json &object, const std::string &prefix, Facts *facts) {
    for (const auto &[name, value] : object.items()) {
        if (value.is_object()) {
            flatten(value, prefix + name + ".", facts);
        } else {
            facts->emplace_back(prefix + name, text_of(value));
        }
    }
}

ManifestKernel read_kernel(const Json &json, const std::string &where, FieldProblem *problem) {
    JsonFields fields(json, where, problem);
    ManifestKernel kernel;
    kernel.key = fields.get<std::string>("key");
    const std::string list = fields.get<std::string>("list"), name = fields.get<std::string>("name");
    kernel.layer = list.empty() ? name : list + "/" + name;
    kernel.target = fields.get<std::string>("target");
    kernel.candidate = fields.get<std::string>("candidate");
    kernel.why_place = fields.get<std::string>("why_place");
    kernel.tuned = fields.get<bool>("tuned");
    kernel.stale = fields.get<bool>("stale");
    if (auto trial = fields.object_or_null("trial")) kernel.trial = trial->get<std::string>("id");
    if (auto measurement = fields.object_or_null("measurement")) {
        kernel.median = measurement->get<std::optional<double>>("median");
        kernel.median_lo = measurement->get<std::optional<double>>("median_lo");
        kernel.median_hi = measurement->get<std::optional<double>>("median_hi");
        kernel.metric = measurement->get<std::string>("metric");
        kernel.evidence = measurement->get<std::string>("evidence");
    }
    flatten(json, "", &kernel.facts);
    return kernel;
}

ManifestNetwork read_network(JsonFields fields) {
    ManifestNetwork network;
    network.name = fields.get<std::string>("name");
    network.plan = fields.get<std::string>("plan");
    network.inputs = fields.list("inputs").size();
    network.outputs = fields.list("outputs").size();
    network.variants = fields.list("variants").size();
    JsonFields weights = fields.object("weights");
    network.weights = weights.get<std::optional<std::string>>("file").value_or("");
    network.weights_bytes = weights.get<int64_t>("bytes");
    network.weights_digest = weights.get<std::string>("digest");
    return network;
}

constexpr int64_t most_program_bytes = int64_t(1) << 30;

// A manifest of this version has 4 levels; later versions may add some.
constexpr int deepest_level = 64;

// Every manifest begins with this text, as manifest_text() writes it.
const std::string &beginning() {
    static const std::string text = fmt::format("{{\n  \"format\": \"{}\"", manifest_format);
    return text;
}

// The manifests inside a binary. A zero byte ends each, as it ends the library's constant. A binary may be large, and has
// anybody's bytes: as little of it is read as of a file.
Result<std::vector<Manifest>> find_manifests(std::string_view bytes, const std::string &path) {
    std::vector<Manifest> found;
    for (size_t at = bytes.find(beginning()); at != std::string_view::npos; at = bytes.find(beginning(), at + 1)) {
        const std::string_view beginning_of_rest = bytes.substr(at, size_t(most_manifest_bytes) + 1);
        const std::string_view text = beginning_of_rest.substr(0, beginning_of_rest.find('\0'));
        if (int64_t(text.size()) > most_manifest_bytes) return bad_input(path + ": holds a manifest that is too large");
        Result<Manifest> manifest = parse_manifest(text, path);
        if (!manifest) return manifest.error();
        found.push_back(std::move(*manifest));
    }
    if (!found.empty()) return found;
    return bad_input(path + ": neither the manifest of a package nor a library or program that holds one; " +
                     "`kiln build -o DIR` writes DIR/share/NAME/manifest.json and DIR/lib/libNAME.a");
}

Result<std::vector<Manifest>> read_folder(const fs::path &folder) {
    std::set<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator it(folder / "share", error), end; !error && it != end; it.increment(error)) {
        std::error_code ignored;
        if (fs::is_regular_file(it->path() / "manifest.json", ignored)) files.insert(it->path() / "manifest.json");
    }
    if (files.empty()) {
        return bad_input(folder.string() + ": is a folder without share/NAME/manifest.json, so not a package");
    }
    std::vector<Manifest> manifests;
    for (const fs::path &file : files) {
        const Result<std::string> text = read_file_text(file, most_manifest_bytes);
        if (!text) return text.error();
        Result<Manifest> manifest = parse_manifest(*text, file);
        if (!manifest) return manifest.error();
        manifests.push_back(std::move(*manifest));
    }
    return manifests;
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view text, const std::string &source) {
    const Result<Json> json = parse_json(text, deepest_level);
    if (!json) return bad_input(fmt::format("{}: not a manifest: {}", source, json.error().message));
    FieldProblem problem;
    JsonFields fields(*json, source + ": ", &problem);
    Manifest manifest;
    manifest.source = source;
    const auto format = fields.get<std::string>("format");
    if (format != manifest_format) {
        fields.fail("format", fmt::format("`{}` is not known to this kiln, which reads {}", format, manifest_format));
    }
    manifest.name = fields.get<std::string>("name");
    manifest.toolchain = fields.get<std::string>("toolchain");
    manifest.database = fields.get<std::optional<std::string>>("database").value_or("");
    manifest.database_digest = fields.get<std::optional<std::string>>("database_digest").value_or("");
    manifest.fallback = fields.get_or("fallback", false);
    const Json &kernels = fields.list("kernels");
    if (kernels.empty() && !json->contains("network"))
        fields.fail("kernels", "is empty, and a package has at least one");
    for (size_t i = 0; i < kernels.size() && fields.ok(); i++) {
        manifest.kernels.push_back(read_kernel(kernels[i], fmt::format("{}: kernels[{}]: ", source, i), &problem));
    }
    if (json->contains("network")) {
        if (auto network = fields.object_or_null("network")) manifest.network = read_network(*network);
    }
    if (json->contains("preparation")) {
        if (auto preparation = fields.object_or_null("preparation")) manifest.preparation = read_network(*preparation);
    }
    if (problem) return bad_input(*problem);
    return manifest;
}

Result<std::vector<Manifest>> read_manifests(const std::string &path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) return bad_input(path + ": does not exist");
    if (status.type() == fs::file_type::directory) return read_folder(path);
    if (error) return file_error(path, "opened", error.value());
    if (status.type() != fs::file_type::regular) return bad_input(path + ": is no file or folder that can be read");
    const Result<std::string> bytes = read_file_text(path, most_program_bytes);
    if (!bytes) return bytes.error();
    const size_t first = bytes->find_first_not_of(" \t\r\n");
    if (first != std::string::npos && (*bytes)[first] == '{') {
        if (int64_t(bytes->size()) > most_manifest_bytes) return bad_input(path + ": too large for a manifest");
        Result<Manifest> manifest = parse_manifest(*bytes, path);
        if (!manifest) return manifest.error();
        std::vector<Manifest> manifests;
        manifests.push_back(std::move(*manifest));
        return manifests;
    }
    return find_manifests(*bytes, path);
}

}  // namespace kiln
