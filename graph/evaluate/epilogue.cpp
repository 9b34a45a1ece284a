#include "graph/evaluate/epilogue.h"

#include <algorithm>

#include "graph/evaluate/functions.h"
#include "graph/evaluate/walk.h"

namespace kiln::graph {
namespace {

// A block of what is computed in double, whatever the type of the graph's values.
Block block(std::vector<double> values) { return {.floats = std::move(values), .integers = {}}; }

bool takes_channels(const EpilogueStep &step) {
    return epilogue_form(step.kind).operand == EpilogueForm::Operand::channels;
}

}  // namespace

std::vector<double> apply_prologue(const Convolution &op, const Task &task) {
    std::vector<double> result = task.floats(0);
    const Shape &shape = task.shape(0);
    const int64_t channels = shape[1], plane = product(shape) / (shape[0] * channels);
    size_t input = task.inputs.size();  // operands of a prologue are the last ones
    for (const EpilogueStep &step : op.prologue) input -= takes_channels(step);
    for (const EpilogueStep &step : op.prologue) {
        const Expression function = function_of(step);
        Program program(function, 2);
        for (int64_t row = 0; row < shape[0] * channels; row++) {
            const auto first = result.begin() + row * plane;
            program.operands[0] = block(std::vector<double>(first, first + plane));
            if (takes_channels(step)) {
                program.operands[1] = block(std::vector<double>(plane, task.floats(input)[row % channels]));
            }
            std::ranges::copy(program.run(plane).floats, first);
        }
        input += takes_channels(step);
    }
    return result;
}

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
