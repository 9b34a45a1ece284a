#include "network/library/alteration_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <memory>
#include <set>

#include "network/library/library_place.h"

namespace kiln::network {
namespace {

constexpr const char *entry_name = "kiln_alterations_of_library";
constexpr size_t most_alterations = 1000;
// Of the table in the first header of this version. Members behind it may be read only where the table has them.
constexpr size_t least_table_size = offsetof(kiln_alterations, items) + sizeof(kiln_alterations::items);

// dlclose() at the end.
using Library = std::shared_ptr<void>;

Result<Library> open(const std::string &file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) return bad_input(file + ": is no file; name a shared library");
    // A name without a slash would be looked for among the system's libraries.
    void *handle = dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        return bad_input(file + ": cannot be loaded: " + (why ? why : "dlopen failed"));
    }
    return Library(handle, [](void *opened) { dlclose(opened); });
}

Result<const kiln_alterations *> table_of(const std::string &file, const Library &library) {
    auto *const function =
        reinterpret_cast<kiln_alterations_function *>(dlsym(library.get(), entry_name));  // as POSIX has it
    if (!function) {
        return bad_input(file + ": has no function `" + entry_name + "`; alteration.h says what a library needs");
    }
    const kiln_alterations *table = nullptr;
    try {
        table = function();
    } catch (...) {
        return bad_input(file + ": " + entry_name + "() threw an exception");
    }
    if (!table || table->size < least_table_size) {
        return bad_input(file + ": " + entry_name + "() answers no table");
    }
    if (table->version != KILN_ALTERATION_VERSION) {
        return bad_input(file + ": is of version " + std::to_string(table->version) +
                         " of alteration.h, this kiln of " + std::to_string(KILN_ALTERATION_VERSION) +
                         "; compile it with the header of this kiln");
    }
    if (table->count > most_alterations || (table->count > 0 && !table->items)) {
        return bad_input(file + ": its table has no items, or more than " + std::to_string(most_alterations));
    }
    return table;
}

bool is_name(const char *name) {
    if (!name || !*name) return false;
    return std::all_of(name, name + std::char_traits<char>::length(name),
                       [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

// Calls the library; what goes wrong there is an error that names the node. Whoever applies the patch says what is wrong with it.
Result<std::vector<Patch>> call(const kiln_alteration &row, const GraphIndex &graph, const graph::Node &node) {
    const kiln_graph shown(graph);
    kiln_patch made(graph.graph());
    const auto failed = [&](const std::string &what) {
        return bad_input("at node '" + graph.value(node.output).name + "': " + what);
    };
    try {
        row.at(&library_tools(), &shown, node.output, &made);
    } catch (const std::exception &error) {
        return failed(std::string("it threw: ") + error.what());
    } catch (...) {
        return failed("it threw an exception");
    }
    if (made.is_empty()) return std::vector<Patch>();
    if (!made.problem.empty()) return failed(made.problem);
    return std::vector<Patch>{std::move(made.patch)};
}

}  // namespace

Result<std::vector<Alteration>> load_alterations(const std::string &file) {
    Result<Library> library = open(file);
    if (!library) return library.error();
    const Result<const kiln_alterations *> table = table_of(file, *library);
    if (!table) return table.error();
    std::set<std::string> names;
    for (const AlterationName &known : alteration_names()) names.insert(known.name);
    std::vector<Alteration> result;
    for (size_t i = 0; i < (*table)->count; i++) {
        const kiln_alteration &row = (*table)->items[i];
        const std::string which = file + ": alteration " + std::to_string(i);
        if (!is_name(row.name)) return bad_input(which + " has no name of letters, digits and _");
        if (!row.at) return bad_input(which + ", `" + row.name + "`: has no function");
        if (!names.insert(row.name).second) return bad_input(which + ": the name `" + row.name + "` is taken");
        result.push_back({row.name, row.summary ? row.summary : "",
                          [row, keep = *library](const GraphIndex &graph, const graph::Node &node) {
                              return call(row, graph, node);
                          },
                          1, 1, file});
    }
    return result;
}

}  // namespace kiln::network
