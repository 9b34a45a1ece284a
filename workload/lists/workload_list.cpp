#include "workload/lists/workload_list.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <unordered_map>

#include "json/file_text.h"
#include "json/json_fields.h"
#include "json/repeated_field.h"
#include "workload/lists/workload_entry.h"

namespace kiln {
namespace {

// `workloads[3] (conv1)`: where the entry is, and its name where it has one.
std::string entry_label(size_t index, const Json &entry) {
    std::string label = fmt::format("workloads[{}]", index);
    if (entry.is_object() && entry.contains("name") && entry["name"].is_string()) {
        label += " (" + entry["name"].get<std::string>() + ")";
    }
    return label;
}

// A list has 6 levels.
constexpr int deepest_level = 16;

constexpr int64_t most_bytes = int64_t(256) << 20;  // a million layers

FieldProblem check_list(const Json &document) {
    constexpr std::string_view form = R"({"format": "workloads/1", "name": ..., "workloads": [...]})";
    if (!document.is_object()) return fmt::format("not a workload list; needs {}", form);
    if (!document.contains("format")) return fmt::format("format: is missing; needs {}", form);
    if (document["format"] != "workloads/1") return "format: " + *expected(R"("workloads/1")", document["format"]);
    FieldProblem problem;
    JsonFields fields(document, "", &problem);
    fields.allow_only({"format", "name", "workloads"});
    if (!fields.has("workloads")) fields.fail("workloads", "is missing; needs a list of entries");
    if (!fields.ok()) return problem;
    const Json &entries = document["workloads"];
    if (!entries.is_array()) return "workloads: " + *expected("a list of entries", entries);
    if (entries.empty()) return "workloads: is empty; needs at least one entry";
    return {};
}

}  // namespace

Result<std::vector<NamedWorkload>> parse_workload_list(const std::string &json, const std::string &source) {
    const auto refuse = [&](const std::string &problem) { return bad_input(source + ": " + problem); };
    if (json.find_first_not_of(" \t\r\n") == std::string::npos) {
        return refuse("the file is empty; needs a workload list (format workloads/1)");
    }
    RepeatedField repeated;
    const Result<Json> parsed = parse_json(json, deepest_level, std::ref(repeated));
    if (!parsed) return refuse(parsed.error().message);
    const Json &document = *parsed;
    if (FieldProblem p = check_list(document)) return refuse(*p);
    const Json &entries = document["workloads"];
    if (repeated.found()) {
        std::string where;
        if (const auto i = repeated.entry(); i && *i < entries.size()) where = entry_label(*i, entries[*i]) + ": ";
        return refuse(where + repeated.name() + ": is there twice; leave one");
    }
    FieldProblem problem;
    const auto list = JsonFields(document, "", &problem).get<std::string>("name", read_text);
    if (problem) return refuse(*problem);

    std::vector<NamedWorkload> workloads;
    for (size_t i = 0; i < entries.size(); i++) {
        NamedWorkload &workload = workloads.emplace_back();
        workload.list = list;
        if (FieldProblem p = read_workload_entry(entries[i], &workload))
            return refuse(entry_label(i, entries[i]) + ": " + *p);
    }
    return workloads;
}

Result<std::vector<NamedWorkload>> read_workload_list(const std::string &path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        return bad_input(path + ": is a folder; needs a workload list (format workloads/1)");
    }
    const Result<std::string> text = read_file_text(path, most_bytes, FileKind::any_stream);
    return text ? parse_workload_list(*text, path) : text.error();
}

std::vector<NamedWorkload> merge_equal(const std::vector<NamedWorkload> &workloads) {
    std::vector<NamedWorkload> merged;
    std::unordered_map<std::string, size_t> positions;
    for (const NamedWorkload &workload : workloads) {
        const auto [found, is_new] = positions.try_emplace(key(workload.workload), merged.size());
        if (is_new) {
            merged.push_back(workload);
        } else {
            merged[found->second].count += workload.count;
        }
    }
    return merged;
}

}  // namespace kiln
