// A nest as loops over flat memory: fewer loops, and of each read one address that is linear in them.
//
// Neighbouring loops become one where every read goes on with the same stride. An axis on which a read may lie outside of
// its operand, or takes its index from a table, keeps its loops and is checked on its own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workload/nest/nest.h"

namespace kiln {

// offset + sum of loops[d] * i_d + sum of over[d] * r_d.
struct Linear {
    std::vector<int64_t> loops, over;
    int64_t offset = 0;
};

// An axis whose index is computed and compared with the axis's extent.
struct CheckedAxis {
    Linear index;    // or, of a table, the address of the index in it
    int table = -1;  // operand; -1: none
    int64_t extent = 1, stride = 1;
};

struct FlatRead {
    int operand = 0;
    Linear address;                    // of the axes that are not checked
    std::vector<CheckedAxis> checked;  // each adds index * stride

    // How far the address moves with a loop, or with a loop of the reduction; nothing where a table decides.
    std::optional<int64_t> stride(size_t loop) const { return stride(&Linear::loops, loop); }
    std::optional<int64_t> stride_over(size_t loop) const { return stride(&Linear::over, loop); }

private:
    std::optional<int64_t> stride(std::vector<int64_t> Linear::*factors, size_t d) const;
};

struct NestForm {
    std::vector<int64_t> loops, over;  // extents, outermost first; at least one loop
    std::vector<FlatRead> reads;       // as in the nest
};

NestForm nest_form(const Nest &nest);

// Whether some operand is read only where the result is written. Then its memory may be the result's, so a kernel must not
// compute an element again once it is written.
bool may_be_in_place(const NestForm &form);

}  // namespace kiln
