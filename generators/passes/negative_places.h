// Masked loads that begin before their buffer.
#pragma once

#include <Halide.h>

namespace kiln {

// A vector at an image's edge may begin before its first element, and leave those lanes out. Where that place is known when compiling,
// as in images of few rows and channels, Halide 21 takes it for an error. This hides that it is known.
void allow_negative_places(Halide::Pipeline &pipeline);

}  // namespace kiln
