// What a group of element-wise nodes computes for each element.
#pragma once

#include "graph/element.h"
#include "workload/expression/expression.h"

namespace kiln::graph {

using scalar::apply;
using scalar::argument_count;
using scalar::cast;
using scalar::compose;
using scalar::constant;
using scalar::Expression;
using scalar::Function;
using scalar::most_steps;
using scalar::operand;
using scalar::operand_count;
using scalar::parse_expression;
using scalar::parse_function;
using scalar::Step;
using scalar::to_text;
using scalar::type_of;

}  // namespace kiln::graph
