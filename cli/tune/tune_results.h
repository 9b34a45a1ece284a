// What `kiln tune` says of its layers in the end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/answers/answer.h"
#include "compare/peak.h"
#include "tuner/job/candidate_choice.h"
#include "tuner/job/tune.h"

namespace kiln {

// The columns of layers whose time is measured, and of a core that is simulated, where cycles are counted.
extern const std::vector<std::string> result_columns, count_columns;

// Peaks that shares are of; none for a simulated core.
struct JobPeaks {
    std::optional<FmaPeak> f32, int8;  // the latter where some layer is quantized

    double gflops(const Workload &workload) const {
        const std::optional<FmaPeak> &peak = int8 && is_quantized(workload) ? int8 : f32;
        return peak ? peak->gflops : 0;
    }
};

// Without a peak the times are cycles of a simulated core.
void print_results(const TuneReport &report, const JobPeaks &peaks, const ChoiceContext &context,
                   const AnswerOptions &options);

// Layers that have no kernel in the end, a line each with the reason. A network needs no kernels in layouts that it does not use,
// so those that no trial was made of are only counted, and so are layers that need none, since there is nothing to compute.
struct LayersWithoutKernel {
    std::vector<std::string> lines;
    size_t unused = 0, empty = 0;
};
LayersWithoutKernel layers_without_kernel(const TuneReport &report);

// What a network spends in its layers. Nothing where one of them has no time.
std::optional<std::string> network_summary(const TuneReport &report);

}  // namespace kiln
