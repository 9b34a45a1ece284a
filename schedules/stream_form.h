// How the method `stream` of move_tile sees a movement: matrices that are transposed by stores that go past the caches
// (runtime/stream_transpose.h), a block of one a call.
//
// Rows are neighbours in the result, columns in the operand. Where the digit of the operand's neighbours is short, the
// one that goes on in its memory is counted along: [o, (i, hw)] of OIHW16i16o's blocks has 16 rows and 144 columns, 16
// runs of 9.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/stream_transpose.h"
#include "runtime/target.h"
#include "schedules/movement.h"
#include "schedules/space.h"

namespace kiln {

struct StreamForm {
    int rows = -1;     // index of a digit; -1: there is no such form
    int columns = -1;  // of a digit, or of that of a run's columns
    int runs = -1;     // of the digit that counts runs; -1: there is one run
    int64_t line = 1;  // elements
    int64_t row_count = 0, column_count = 0;

    // Whether one row's columns end where the next row's begin.
    bool rows_are_one_run(const Movement &m) const { return m.digits[rows].read_stride == column_count; }
};

// There is one where lines of the result are whole, all elements exist and the target is x86-64.
StreamForm stream_form(const Movement &m, const Target &target);

// Elements of a block, of the knobs block_written and block_read: whole lines, no more than there are.
struct StreamedBlockSize {
    int64_t rows = 0, columns = 0;
};
StreamedBlockSize streamed_block(const StreamForm &form, const Knobs &knobs);

// Loops over blocks, by index of their digits, innermost first; the knob `order` says which side's memory they follow.
std::vector<int> streamed_order(const Movement &m, const Knobs &knobs);

// The function of runtime/stream_transpose.h for a target.
std::string stream_function(const Target &target);

}  // namespace kiln
