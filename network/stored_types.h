// Types that values have between kernels. Inputs and outputs of a network may have others.
#pragma once

#include "graph/element.h"

namespace kiln::network {

inline bool lies_between_kernels(graph::Element type) {
    using enum graph::Element;
    return type == f32 || type == i32 || type == i8 || type == u8;
}

}  // namespace kiln::network
