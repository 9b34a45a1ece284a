// Lines of images that are fetched some tiles before Winograd's and Strassen's kernels transform them.
#pragma once

#include <Halide.h>

#include <cstdint>

#include "schedules/spaces/winograd/winograd_rules.h"
#include "workload/workload.h"

namespace kiln {

// Those of the input, of the result, and of what an epilogue adds to it, `tiles` ahead. `input_bytes` are those of an element.
void fetch_image_ahead(Halide::Pipeline pipeline, const Workload &workload, const WinogradFacts &facts, int64_t tiles,
                       int64_t input_bytes);

}  // namespace kiln
