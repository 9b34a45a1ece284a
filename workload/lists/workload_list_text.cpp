#include "workload/lists/workload_list_text.h"

#include "workload/lists/field_values.h"

namespace kiln {
namespace {

Json entry_of(const NamedWorkload &named) {
    const Workload &w = named.workload;
    Json entry = {{"name", named.name}, {"count", named.count}, {"op", op_name(w)}};
    for (const WorkloadField &field : workload_fields()) {
        if (!field.is_used_by(w.op) || is_left_out(field, w)) continue;
        entry[std::string(field.name)] = field_value(field, w);
    }
    return entry;
}

// `{"a": [1, 2]}` with the spaces that a person would write.
std::string one_line(const Json &value) {
    if (value.is_object()) {
        std::string text;
        for (const auto &[key, field] : value.items()) {
            text += (text.empty() ? "" : ", ") + Json(key).dump() + ": " + one_line(field);
        }
        return "{" + text + "}";
    }
    if (value.is_array()) {
        std::string text;
        for (const Json &entry : value) text += (text.empty() ? "" : ", ") + one_line(entry);
        return "[" + text + "]";
    }
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string workload_list_text(const std::string &list, const std::vector<NamedWorkload> &workloads) {
    std::string text = R"({"format": "workloads/1", "name": )" + one_line(list) + R"(, "workloads": [)";
    for (size_t i = 0; i < workloads.size(); i++) {
        text += (i > 0 ? ",\n  " : "\n  ") + one_line(entry_of(workloads[i]));
    }
    return text + "]}\n";
}

}  // namespace kiln
