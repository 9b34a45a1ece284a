#include "package/manifest_reader.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "workload/lists/json_depth.h"
#include "package/manifest.h"
#include "package/package_folder.h"

namespace kiln {
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

// The fields of an object. The first that is missing or of another type is the problem; all after it read as empty.
class Fields {
public:
    Fields(const Json &object, std::string where, std::string *problem)
        : object_(object), where_(std::move(where)), problem_(problem) {}

    std::string text(const char *name) { return value(name, &Json::is_string, "a text").get<std::string>(); }
    std::string text_or_null(const char *name) {
        const Json &found = value(
            name, [](const Json &j) { return j.is_null() || j.is_string(); }, "a text or null");
        return found.is_string() ? found.get<std::string>() : "";
    }
    bool boolean(const char *name) {
        const Json &found = value(name, &Json::is_boolean, "true or false");
        return found.is_boolean() && found.get<bool>();
    }
    std::optional<double> number_or_null(const char *name) {
        const Json &found = value(
            name, [](const Json &j) { return j.is_null() || j.is_number(); }, "a number or null");
        return found.is_number() ? std::optional(found.get<double>()) : std::nullopt;
    }
    const Json &array(const char *name) { return value(name, &Json::is_array, "a list"); }
    std::optional<Fields> object_or_null(const char *name) {
        const Json &found = value(
            name, [](const Json &j) { return j.is_null() || j.is_object(); }, "an object or null");
        if (!found.is_object()) return std::nullopt;
        return Fields(found, where_ + name + ".", problem_);
    }

private:
    template<typename Predicate>
    const Json &value(const char *name, Predicate is_right, const char *wanted) {
        static const Json empty_text = "";
        const auto found = object_.find(name);
        if (found == object_.end()) {
            refuse(fmt::format("{}{}: missing", where_, name));
        } else if (!std::invoke(is_right, *found)) {
            refuse(fmt::format("{}{}: needs {}", where_, name, wanted));
        } else {
            return *found;
        }
        return empty_text;
    }
    void refuse(std::string text) {
        if (problem_->empty()) *problem_ = std::move(text);
    }

    const Json &object_;
    std::string where_;
    std::string *problem_;
};

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

ManifestKernel read_kernel(const Json &json, const std::string &where, std::string *problem) {
    Fields fields(json, where, problem);
    ManifestKernel kernel;
    kernel.key = fields.text("key");
    const std::string list = fields.text("list"), name = fields.text("name");
    kernel.layer = list.empty() ? name : list + "/" + name;
    kernel.target = fields.text("target");
    kernel.candidate = fields.text("candidate");
    kernel.why_place = fields.text("why_place");
    kernel.tuned = fields.boolean("tuned");
    kernel.stale = fields.boolean("stale");
    if (auto trial = fields.object_or_null("trial")) kernel.trial = trial->text("id");
    if (auto measurement = fields.object_or_null("measurement")) {
        kernel.median = measurement->number_or_null("median");
        kernel.median_lo = measurement->number_or_null("median_lo");
        kernel.median_hi = measurement->number_or_null("median_hi");
        kernel.metric = measurement->text("metric");
        kernel.evidence = measurement->text("evidence");
    }
    flatten(json, "", &kernel.facts);
    return kernel;
}

// A manifest of this version has 4 levels; later ones may add some.
constexpr int deepest_level = 64;

// What the text of every manifest begins with, as manifest_text() writes it.
const std::string &beginning() {
    static const std::string text = fmt::format("{{\n  \"format\": \"{}\"", manifest_format);
    return text;
}

// The manifests inside of a binary: each goes on to the zero byte that ends the library's constant.
Result<std::vector<Manifest>> find_manifests(std::string_view bytes, const std::string &path) {
    std::vector<Manifest> found;
    for (size_t at = bytes.find(beginning()); at != std::string_view::npos; at = bytes.find(beginning(), at + 1)) {
        const std::string_view text = bytes.substr(at, bytes.substr(at).find('\0'));
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
        const Result<std::string> text = read_text(file);
        if (!text) return text.error();
        Result<Manifest> manifest = parse_manifest(*text, file);
        if (!manifest) return manifest.error();
        manifests.push_back(std::move(*manifest));
    }
    return manifests;
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view text, const std::string &source) {
    if (json_depth(text) > deepest_level) {
        return bad_input(fmt::format("{}: not a manifest: nested more than {} levels deep", source, deepest_level));
    }
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return bad_input(source + ": a manifest that is not valid JSON; was it cut off?");
    std::string problem;
    if (!json.is_object()) return bad_input(source + ": not a manifest: needs an object");
    Fields fields(json, "", &problem);
    Manifest manifest;
    manifest.source = source;
    const std::string format = fields.text("format");
    if (problem.empty() && format != manifest_format) {
        problem = fmt::format("format: `{}` is not known to this kiln, which reads {}", format, manifest_format);
    }
    manifest.name = fields.text("name");
    manifest.toolchain = fields.text("toolchain");
    manifest.database = fields.text_or_null("database");
    manifest.database_digest = fields.text_or_null("database_digest");
    if (json.contains("fallback")) manifest.fallback = fields.boolean("fallback");
    const Json &kernels = fields.array("kernels");
    if (problem.empty() && kernels.empty()) problem = "kernels: is empty, and a package has at least one";
    for (size_t i = 0; kernels.is_array() && i < kernels.size() && problem.empty(); i++) {
        const std::string where = fmt::format("kernels[{}]", i);
        if (!kernels[i].is_object()) {
            problem = where + ": needs an object";
            break;
        }
        manifest.kernels.push_back(read_kernel(kernels[i], where + ".", &problem));
    }
    if (!problem.empty()) return bad_input(source + ": " + problem);
    return manifest;
}

Result<std::vector<Manifest>> read_manifests(const std::string &path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) return bad_input(path + ": does not exist");
    if (status.type() == fs::file_type::directory) return read_folder(path);
    if (status.type() != fs::file_type::regular) return bad_input(path + ": is no file or folder that can be read");
    const Result<std::string> bytes = read_text(path);
    if (!bytes) return bytes.error();
    const size_t first = bytes->find_first_not_of(" \t\r\n");
    if (first != std::string::npos && (*bytes)[first] == '{') {
        Result<Manifest> manifest = parse_manifest(*bytes, path);
        if (!manifest) return manifest.error();
        std::vector<Manifest> manifests;
        manifests.push_back(std::move(*manifest));
        return manifests;
    }
    return find_manifests(*bytes, path);
}

}  // namespace kiln
