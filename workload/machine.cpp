#include "workload/machine.h"

#include <algorithm>

#include "workload/number_text.h"

namespace kiln {

std::string key(const Machine &m) {
    return m.cpu_id + "/l1:" + std::to_string(m.l1_bytes) + "/l2:" + std::to_string(m.l2_bytes) +
           "/l3:" + std::to_string(m.l3_bytes) + "/cores:" + std::to_string(m.cores) + "/" + m.cpu_model;
}

std::optional<Machine> parse_machine_key(std::string_view text) {
    const auto next = [&text] {
        const size_t end = std::min(text.find('/'), text.size());
        const std::string_view part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        return part;
    };
    bool ok = true;
    const auto number = [&](std::string_view name) -> int64_t {
        const std::string_view part = next();
        if (!part.starts_with(name) || !part.substr(name.size()).starts_with(':')) return ok = false;
        const std::optional<int64_t> value = parse_integer(part.substr(name.size() + 1));
        if (!value || *value < 0) ok = false;
        return value.value_or(0);
    };
    Machine machine;
    machine.cpu_id = next();
    machine.l1_bytes = number("l1");
    machine.l2_bytes = number("l2");
    machine.l3_bytes = number("l3");
    machine.cores = static_cast<int>(number("cores"));
    machine.cpu_model = text;
    if (!ok || machine.cpu_id.empty()) return std::nullopt;
    return machine;
}

}  // namespace kiln
