// The least and the largest value of a type: where a maximum or a minimum of nothing lies.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "graph/element.h"
#include "graph/evaluate/operator_loops.h"

namespace kiln::graph {

template<typename T>
T least_value(Element type) {
    if constexpr (std::is_same_v<T, double>) return -std::numeric_limits<double>::infinity();
    return static_cast<T>(cut_off(type, type == Element::boolean ? 0 : -std::numeric_limits<double>::infinity()));
}

template<typename T>
T largest_value(Element type) {
    if constexpr (std::is_same_v<T, double>) return std::numeric_limits<double>::infinity();
    return static_cast<T>(cut_off(type, std::numeric_limits<double>::infinity()));
}

}  // namespace kiln::graph
