// Why a node cannot be lowered, on its way out of a rule.
//
// A rule reads a dozen attributes and inputs and adds several nodes, and each of these can fail. Rules are written as if
// nothing did: what fails throws a Refusal, and lower_node() makes an Error of it. There is no other exception here, and
// none leaves graph/lower/.
#pragma once

#include <string>
#include <utility>

#include "workload/result.h"

namespace kiln::graph {

struct Refusal {
    Error error;
};

// What the model asks for is valid, but kiln cannot compute it.
[[noreturn]] inline void refuse(std::string reason) { throw Refusal{unsupported(std::move(reason))}; }

// The model is not valid.
[[noreturn]] inline void reject(std::string reason) { throw Refusal{bad_input(std::move(reason))}; }

template<typename T>
T value_or_refusal(Result<T> result) {
    if (!result) throw Refusal{result.error()};
    return std::move(*result);
}

}  // namespace kiln::graph
