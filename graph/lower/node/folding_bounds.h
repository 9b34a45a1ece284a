// How much of a model may be computed before it runs, and how much may become of it. A hostile model asks for constants, or for
// steps of a sequence, without end with few bytes.
#pragma once

#include <cstdint>

namespace kiln::graph {

struct FoldingBounds {
    int64_t elements = int64_t{1} << 27;      // of one constant
    int64_t all_elements = int64_t{1} << 29;  // of all together
    int64_t steps =
        int64_t{1} << 32;  // multiplications, comparisons, elements that are read and so on, of all together
    int64_t indices = int64_t{1} << 26;  // that slices, pads and resizes list, of all together
    int64_t nodes = int64_t{1} << 20;    // of the graph
};

}  // namespace kiln::graph
