#include "tuner/build/generator_answer.h"

#include <limits>

#include "json/json_fields.h"
#include "text/excerpt.h"

namespace kiln {
namespace {

constexpr int deepest_level = 4;

int64_t size_of(JsonFields &fields, std::string_view name) {
    return fields.get<int64_t>(name, [](const Json &value, int64_t *size) {
        return read_integer(value, 0, std::numeric_limits<int64_t>::max() / 4, size);
    });
}

}  // namespace

Result<KernelConstants> parse_generator_answer(std::string_view printed) {
    const Result<Json> parsed = parse_json(printed, deepest_level);
    FieldProblem problem;
    KernelConstants constants;
    if (parsed) {
        JsonFields fields(*parsed, "", &problem);
        constants = {size_of(fields, "packed_bytes"), size_of(fields, "prepared_bytes"),
                     fields.has("workspace_bytes") ? size_of(fields, "workspace_bytes") : 0,
                     fields.has("sources") ? size_of(fields, "sources") : 1};
    }
    if (parsed && !problem) return constants;
    return environment_error("kiln-generator answered something else than its constants: `" + excerpt(printed) +
                             "`; rebuild kiln with ./setup");
}

}  // namespace kiln
