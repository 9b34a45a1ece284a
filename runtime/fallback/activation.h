// The steps of an epilogue that are functions of the sum alone.
#pragma once

#include "runtime/kiln.h"

namespace kiln {

// NaN stays NaN.
void activate(const kiln_epilogue_step &step, float *values, int count);

}  // namespace kiln
