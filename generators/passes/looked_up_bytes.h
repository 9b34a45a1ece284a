// Numbers of 8 bits that are looked up in a table of 8 bits, many at once.
#pragma once

#include <Halide.h>

#include <string>

namespace kiln {

// A vector of elements at places that are not known is loaded element by element. Where stores have nothing but the elements of a
// table at places that are bytes of a buffer, this calls `function` (runtime/lookup/byte_lookup.h): once for all stores behind each
// other, and for all iterations of serial loops, that read and write neighbours. Tables have all 256 elements.
void look_up_bytes(Halide::Pipeline &pipeline, const std::string &function);

}  // namespace kiln
