// The loops of a pipeline as text: what a schedule made of the mathematics, without the instructions.
//
//   realize sum[16, 2, 7] in Register          where a stage is stored, from the innermost dimension on
//     produce sum                              where it is computed
//       unrolled x 7                           serial (`for`), parallel, vectorized or unrolled, and how often
//         sum = input, sum, weights            what is stored, and what is read for it
//
// Halide schedules the pipeline and infers all bounds, but unrolls and vectorizes nothing yet, since the loops would be
// gone. Names are those of stages and variables; what Halide appends to keep them apart is left out.
#pragma once

#include <Halide.h>

#include <string>

namespace kiln {

std::string loop_nest(const Halide::Pipeline &pipeline, const Halide::Target &target);

}  // namespace kiln
