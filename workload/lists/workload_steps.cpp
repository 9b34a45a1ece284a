#include "workload/lists/workload_steps.h"

#include <fmt/format.h>

#include "workload/lists/workload_entry.h"
#include "workload/movement_composition.h"
#include "workload/signature.h"

namespace kiln {

FieldProblem read_then(const Json &steps, Workload *w) {
    if (!is_data_movement(w->op)) {
        return fmt::format("then: follows data movement only, not {}; leave it out", op_name(*w));
    }
    if (!steps.is_array() || steps.empty()) return "then: " + *expected("a list of data movements", steps);
    for (size_t i = 0; i < steps.size(); i++) {
        const std::string where = fmt::format("then: step {}: ", i + 1);
        Json step = steps[i];
        if (!step.is_object()) return where + *expected("an object", step);
        for (const auto &[name, value] : step.items()) {
            if (name != "op" && name != "to_layout" && name != "block" && name != "output_layout") {
                return where +
                       fmt::format("{}: is no field of a step; allowed are op, to_layout, block, output_layout", name);
            }
        }
        // The rest is what was written before.
        step["name"] = "step";
        step["dtype"] = name(w->dtype);
        step[transforms_weights(*w) ? "kernel" : "input"] = signature(*w).result.logical;
        const bool transforms_layout = step.contains("op") && step["op"] == "layout_transform";
        step[transforms_layout ? "from_layout" : "input_layout"] = moved_layouts(*w).to;
        NamedWorkload next;
        if (FieldProblem p = read_workload_entry(step, &next)) return where + *p;
        const Result<Workload> both = composed(*w, next.workload);
        if (!both) return where + both.error().message;
        *w = *both;
    }
    return {};
}

}  // namespace kiln
