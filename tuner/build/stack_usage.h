// What a compiler says of the stack that each function needs (-fstack-usage), so that a kernel for a soft core is known to fit
// before it runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workload/result.h"

namespace kiln {

// That a kernel for a soft core may use, with the functions that it calls.
inline constexpr int64_t most_stack_bytes = 512;

struct FunctionStack {
    std::string function;
    int64_t bytes = 0;
    bool is_bounded = true;  // else it depends on values, and `bytes` is the least
    bool operator==(const FunctionStack &) const = default;
};

// Lines such as "kernel.c:12:6:kiln_compute<tab>96<tab>static". Errors (environment) begin with `name`.
Result<std::vector<FunctionStack>> parse_stack_usage(std::string_view text, const std::string &name);

// The most that a call can use while no function calls itself: all of them, but for those whose names contain `left_out`.
// INT64_MAX where one of them has no bound.
int64_t most_stack(const std::vector<FunctionStack> &functions, std::string_view left_out);

}  // namespace kiln
