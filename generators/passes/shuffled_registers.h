// Vectors that begin anywhere in a row that lies in registers.
#pragma once

#include <Halide.h>

#include <string>

namespace kiln {

// Stages in registers are written in whole vectors. Where one is read at other places, as neighbours of a column are, LLVM takes it
// to memory, and waits for what was just stored there. This reads the whole vectors that such a place meets, and shuffles them into
// one. It does so for the stages of this name that are stored in registers, at places that are known when compiling; others are left
// as they are.
void shuffle_registers(Halide::Pipeline &pipeline, const std::string &stage);

}  // namespace kiln
