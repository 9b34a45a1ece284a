#include "graph/evaluate/epilogue.h"

#include <algorithm>

#include "graph/evaluate/functions.h"

namespace kiln::graph {
namespace {

// A block of what is computed in double, whatever the type of the graph's values.
Block block(std::vector<double> values) { return {.floats = std::move(values), .integers = {}}; }

}  // namespace

void apply_epilogue(const std::vector<EpilogueStep> &steps, const Task &task, const SumRange &range) {
    using Operand = EpilogueForm::Operand;
    const auto part_of = [&](const std::vector<double> &values) {
        return std::vector<double>(values.begin() + range.begin, values.begin() + range.end);
    };
    if (steps.empty()) return;
    const int64_t count = range.end - range.begin;
    Block sums = block(part_of(task.float_result()));
    size_t input = 2;  // behind the convolution's own
    for (const EpilogueStep &step : steps) {
        const Operand operand = epilogue_form(step.kind).operand;
        const Expression function = function_of(step);
        Program program(function, 2);
        program.operands[0] = std::move(sums);
        if (operand == Operand::channels) {
            program.operands[1] = block(std::vector<double>(count, task.floats(input++)[range.channel]));
        } else if (operand == Operand::result) {
            program.operands[1] = block(part_of(task.floats(input++)));
        }
        sums = program.run(count);
    }
    std::ranges::copy(sums.floats, task.float_result().begin() + range.begin);
}

}  // namespace kiln::graph
