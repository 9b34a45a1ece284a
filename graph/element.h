// The elements of a network's values are those of expressions.
#pragma once

#include "workload/expression/element.h"

namespace kiln::graph {

using scalar::Element;
using scalar::is_float;
using scalar::largest_finite;
using scalar::name;
using scalar::parse_element;
using scalar::read_float;
using scalar::read_integer;
using scalar::size_of;
using scalar::smallest_normal;
using scalar::write_float;
using scalar::write_integer;

inline bool is_narrow_float(Element type) { return type == Element::f16 || type == Element::bf16; }

}  // namespace kiln::graph
