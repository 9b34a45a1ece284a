// Small layers, and the options of jobs over them.
#pragma once

#include "tuner/job/tune.h"
#include "workload/workload.h"

namespace kiln {

inline const NamedWorkload layer_a{"net", "a", 2, convolution({1, 56, 56, 64}, {1, 1, 64, 64})};
inline const NamedWorkload layer_b{"net", "b", 1, convolution({1, 28, 28, 64}, {3, 3, 64, 32})};

inline NamedWorkload unsupported_layer() { return {"net", "huge", 1, convolution({1, 65536, 65536, 4}, {3, 3, 4, 8})}; }
inline NamedWorkload empty_layer() { return {"net", "empty", 1, convolution({1, 8, 8, 4}, {9, 9, 4, 8})}; }

inline TuneOptions trials(int64_t n) {
    TuneOptions options;
    options.trials = n;
    options.race_time_ns = 0;
    return options;
}

}  // namespace kiln
