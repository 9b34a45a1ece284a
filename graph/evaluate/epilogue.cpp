#include "graph/evaluate/epilogue.h"

namespace kiln::graph {

void apply_epilogue(const std::vector<EpilogueStep> &steps, const Task &task, const SumRange &range) {
    std::vector<double> &sums = task.float_result();
    size_t input = 2;  // behind the convolution's own
    for (const EpilogueStep &step : steps) {
        switch (step.kind) {
            case EpilogueStep::Kind::bias: {
                const double bias = task.floats(input++)[range.channel];
                for (int64_t i = range.begin; i < range.end; i++) sums[i] += bias;
                break;
            }
            case EpilogueStep::Kind::add: {
                const std::vector<double> &addend = task.floats(input++);
                for (int64_t i = range.begin; i < range.end; i++) sums[i] += addend[i];
                break;
            }
            case EpilogueStep::Kind::relu:
                for (int64_t i = range.begin; i < range.end; i++) sums[i] = largest(sums[i], 0.0);
                break;
            case EpilogueStep::Kind::clamp:
                for (int64_t i = range.begin; i < range.end; i++) {
                    sums[i] = least<double>(largest<double>(sums[i], step.lo), step.hi);
                }
                break;
        }
    }
}

}  // namespace kiln::graph
