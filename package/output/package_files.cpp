#include "package/output/package_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "json/file_text.h"
#include "json/json_fields.h"
#include "package/output/package_name.h"
#include "package/output/text_files.h"
#include "tuner/process/descriptor.h"

namespace kiln {
namespace fs = std::filesystem;

namespace {

// The text of a field; empty if the text is no manifest.
std::string field_of(const Json &manifest, const char *name) {
    const auto field = manifest.find(name);
    return field != manifest.end() && field->is_string() ? field->get<std::string>() : "";
}

// The folders of a package, as "lib" and "lib/cmake": each after the one that it lies in.
std::set<std::string> folders_of(const std::vector<std::string> &files) {
    std::set<std::string> folders;
    for (const std::string &file : files) {
        for (fs::path folder = fs::path(file).parent_path(); !folder.empty(); folder = folder.parent_path()) {
            folders.insert(folder);
        }
    }
    return folders;
}

// Only these may be: a manifest says no more than which of them there are.
bool may_be_listed(const std::string &file, const std::string &name) {
    if (file == "CMakeLists.txt" || file == "Makefile" || file == "src/" + name + "_kernels.h") return true;
    const std::string prefix = "src/" + name + "_";
    constexpr std::string_view suffix = ".c";
    if (!file.starts_with(prefix) || !file.ends_with(suffix)) return false;
    const std::string_view middle = std::string_view(file).substr(prefix.size());
    return std::ranges::all_of(middle.substr(0, middle.size() - suffix.size()),
                               [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

// Those that a package of this name consists of, sorted. `manifest`: its text, or nothing.
std::vector<std::string> files_of(const std::string &name, const std::optional<std::string> &manifest) {
    std::vector<std::string> files = package_files(name);
    for (const std::string &file : manifest ? listed_files(*manifest, name) : std::vector<std::string>())
        files.push_back(file);
    std::ranges::sort(files);
    return files;
}

fs::path manifest_path(const fs::path &folder, const std::string &name) {
    return folder / "share" / name / "manifest.json";
}

// Whether share/NAME/manifest.json in the folder is the manifest of a package of that name.
bool has_manifest(const fs::path &folder, const std::string &name) {
    const fs::path path = manifest_path(folder, name);
    std::error_code ignored;
    if (fs::symlink_status(path, ignored).type() != fs::file_type::regular) return false;
    const Result<std::string> text = read_file_text(path, most_manifest_bytes);
    return text && is_manifest(*text, name);
}

// The names of the packages whose manifests are in a folder.
std::vector<std::string> names_in(const fs::path &folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(folder / "share", error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename();
        if (check_package_name(name).ok() && has_manifest(folder, name)) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

// The user may have a README.md or a Makefile where somebody has put the other files of a package.
bool is_own_text(const fs::path &path, const std::string &name) {
    const Result<std::string> text = read_file_text(path, int64_t(16) << 20);
    return text && text->starts_with("# " + name + "\n");
}

// Entries below `folder` that do not belong to the package `name`, as relative paths. Does not look into foreign folders.
std::vector<std::string> foreign_entries(const fs::path &folder, const std::string &name) {
    const Result<std::string> manifest = read_file_text(manifest_path(folder, name), most_manifest_bytes);
    const std::vector<std::string> files = files_of(name, manifest ? std::optional(*manifest) : std::nullopt);
    const std::set<std::string> folders = folders_of(files);
    std::vector<std::string> foreign;
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const std::string path = it->path().lexically_relative(folder);
        std::error_code ignored;
        const fs::file_type type = it->symlink_status(ignored).type();
        bool is_own = false;
        if (type == fs::file_type::directory) {
            is_own = folders.contains(path);
            if (!is_own) it.disable_recursion_pending();
        } else if (type == fs::file_type::regular) {
            is_own = std::binary_search(files.begin(), files.end(), path);
            const bool has_usual_name = path == "README.md" || path == "Makefile" || path == "CMakeLists.txt";
            if (is_own && has_usual_name) is_own = is_own_text(it->path(), name);
        }
        if (!is_own) foreign.push_back(path);
    }
    if (error) foreign.push_back(error.message());
    std::sort(foreign.begin(), foreign.end());
    return foreign;
}

std::string listed(const std::vector<std::string> &paths) {
    constexpr size_t shown = 3;
    const size_t count = std::min(paths.size(), shown);
    std::string text = fmt::format("`{}`", fmt::join(paths.begin(), paths.begin() + std::ptrdiff_t(count), "`, `"));
    if (paths.size() > shown) text += fmt::format(" and {} more", paths.size() - shown);
    return text;
}

// The folder that `path` lies in, opened link by link below `folder`.
Descriptor open_parent(int folder, const fs::path &path) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    Descriptor at(openat(folder, ".", flags));
    for (const fs::path &part : path.parent_path()) {
        if (!at.valid()) break;
        at = Descriptor(openat(at.get(), part.c_str(), flags));
    }
    return at;
}

// No link is followed. Nothing: there is no such file.
std::optional<std::string> read_below(int folder, const fs::path &path) {
    const Descriptor parent = open_parent(folder, path);
    if (!parent.valid()) return {};
    const Descriptor file(
        openat(parent.get(), path.filename().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.valid()) return {};
    std::string text;
    char part[4096];
    for (ssize_t size; (size = read(file.get(), part, sizeof part)) > 0;) {
        text.append(part, size_t(size));
        if (int64_t(text.size()) > most_manifest_bytes) return {};
    }
    return text;
}

void remove_below(int folder, const fs::path &path, int flags) {
    const Descriptor parent = open_parent(folder, path);
    if (parent.valid()) unlinkat(parent.get(), path.filename().c_str(), flags);
}

}  // namespace

bool is_manifest(std::string_view text, std::optional<std::string_view> name) {
    constexpr int deepest_level = 64;  // a manifest of today has 4
    const Result<Json> json = parse_json(text, deepest_level);
    return json && json->is_object() && field_of(*json, "format").starts_with("package/") &&
           (!name || field_of(*json, "name") == *name);
}

std::vector<std::string> package_files(const std::string &name) {
    std::vector<std::string> files = {
        "README.md",
        "include/" + name + ".h",
        "include/" + name + "/kiln.h",
        "include/" + name + "/kiln.hpp",
        "lib/cmake/" + name + "/" + name + "-config-version.cmake",
        "lib/cmake/" + name + "/" + name + "-config.cmake",
        "lib/" + name + ".weights",  // of a network
        "lib/lib" + name + ".a",
        "lib/lib" + name + ".so",
        "lib/pkgconfig/" + name + "-shared.pc",
        "lib/pkgconfig/" + name + ".pc",
        "share/" + name + "/manifest.json",
        "share/" + name + "/manifest.schema.json",
    };
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<std::string> listed_files(std::string_view manifest, const std::string &name) {
    constexpr int deepest_level = 64;
    const Result<Json> json = parse_json(manifest, deepest_level);
    if (!json || !json->is_object()) return {};
    std::vector<std::string> files;
    const auto list = json->find("files");
    if (list == json->end() || !list->is_array()) return {};
    for (const Json &file : *list) {
        if (file.is_string() && may_be_listed(file.get<std::string>(), name)) files.push_back(file.get<std::string>());
    }
    return files;
}

Result<std::optional<std::string>> package_in(const fs::path &folder) {
    std::error_code error;
    const bool empty = fs::is_empty(folder, error);
    if (error) return cannot("look into the output folder", folder, error.message());
    if (empty) return std::optional<std::string>();
    const std::vector<std::string> names = names_in(folder);
    if (names.empty()) {
        return bad_input(folder.string() +
                         ": exists and is not a package of kiln's; it would be replaced, so choose another output");
    }
    const std::vector<std::string> foreign = foreign_entries(folder, names.front());
    if (foreign.empty()) return std::optional(names.front());
    return bad_input(
        fmt::format("{}: has {} besides the package {}; the whole folder would be replaced, so move that "
                    "away or choose another output",
                    folder.string(), listed(foreign), names.front()));
}

void remove_package(int folder, const std::string &name, const std::vector<std::string> &others) {
    const std::vector<std::string> files =
        files_of(name, read_below(folder, fs::path("share") / name / "manifest.json"));
    for (const std::string &file : files) remove_below(folder, file, 0);
    const std::set<std::string> folders = folders_of(files);
    std::for_each(folders.rbegin(), folders.rend(),
                  [&](const std::string &path) { remove_below(folder, path, AT_REMOVEDIR); });
    for (const std::string &file : others) remove_below(folder, file, 0);
}

}  // namespace kiln
