// A kernel as one C file, for a core without vectors: functions that call nothing outside of it, allocate nothing and have no globals.
// Whoever compiles it needs <stdint.h> and no header of Halide's.
//
// Halide's own C output is C++ that counts on its runtime and writes every operation as a statement of its own. This one
// prints the loops that Halide lowers a pipeline to, expressions as they are, and temporaries in the caller's workspace.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generators/c/c_function.h"

namespace kiln {

// Thrown where the loops have something that C cannot say: vectors, arithmetic of f64, an allocation of unknown size. The candidate is
// refused with this as the compiler's message.
struct NoCForm {
    std::string what;
};

struct CSource {
    std::string text;
    int64_t workspace_bytes = 0;  // that the functions need, aligned to 8
};

// A function of a kernel, lowered.
struct CModule {
    Halide::Module module;
    CForm form = {};
};

// Every function takes the pipeline's buffers as plain pointers in their order, inputs first, and last the workspace:
//   void kiln_compute(const int8_t *restrict input, ..., int8_t *restrict output, void *workspace)
// Those that its form has lie in one array of int32_t in their place. `copying`: a function kiln_pack that copies all of it.
CSource c_source(const std::vector<CModule> &modules, const std::optional<CForm> &copying = {});

}  // namespace kiln
