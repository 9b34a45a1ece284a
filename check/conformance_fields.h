// Reads the fields of one case of a conformance manifest. The first problem is kept and every later read answers a
// harmless value, so that a case reads as a list of its fields; status() is asked once, at the end.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

class ConformanceFields {
public:
    // `where` is what errors start with: "xla_conv.json: case `x000.fwd`".
    ConformanceFields(const nlohmann::json &object, std::string where);

    bool has(std::string_view field) const { return object_.contains(field); }
    std::string text(std::string_view field);
    bool boolean(std::string_view field);  // false when absent
    int64_t integer(std::string_view field);
    double number(std::string_view field);
    std::vector<int64_t> integers(std::string_view field);
    std::vector<Padding> padding(std::string_view field);
    std::vector<std::string> texts(std::string_view field);  // none when absent

    // An object inside this one. Its problems are its own: see take().
    ConformanceFields object(std::string_view field);
    void take(const Status &status);  // of an object inside this one

    void fail(std::string_view field, std::string_view problem);
    Status status() const { return error_ ? Status(*error_) : Status(); }

private:
    const nlohmann::json &value(std::string_view field);

    const nlohmann::json &object_;
    std::string where_;
    std::optional<Error> error_;
};

}  // namespace kiln
