// Signal handlers that tell what a kernel did to its process. They know the buffers and their guards.
//
// A handler may only use what POSIX calls async-signal-safe, and finds what it needs in fixed tables: this is the one
// place of the measuring process with state outside objects.
#pragma once

#include <cstddef>

#include "runtime/kernel_abi.h"

namespace kiln {

// Memory that a kernel gets, between its guards.
struct Region {
    const char *name;  // a literal
    const std::byte *begin, *end;
    const std::byte *guard_begin, *guard_end;  // both guards and all between them
};

// Answers go to `descriptor`, as an end_line() of runner_protocol.h.
void install_crash_reporter(int descriptor);

// There may be at most 96 regions at a time. The number that add_region() answers names a region.
int add_region(const Region &region);
void remove_region(int number);

// KernelContext::on_exhausted: a kernel that asks for more than the arena holds ends here.
void report_exhausted(const Arena &arena, size_t requested);

}  // namespace kiln
