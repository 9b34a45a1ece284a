// Masks that are known when compiling, made when a kernel begins.
#pragma once

#include <Halide.h>

namespace kiln {

// A masked load leaves zeros where its mask does. LLVM 21 takes one whose mask is a constant apart, into a load and an instruction
// that puts the zeros in, which takes the place of a sum. It leaves those alone whose mask it does not know. So this hides what it
// could know: masks are made once, before all loops, from a number that is always zero.
void make_masks_at_run_time(Halide::Pipeline &pipeline);

}  // namespace kiln
