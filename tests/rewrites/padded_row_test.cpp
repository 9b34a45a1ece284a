#include "rewrites/padded_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace kiln {
namespace {

// Where the phases say that a column lies in the input, and only there, it does; every tap reads a phase and a column that
// there are.
TEST(PaddedRow, HoldsWhatTapsRead) {
    struct Row {
        int64_t input, output, kernel, stride, dilation, pad;
        size_t phases;
    };
    constexpr Row rows[] = {
        {14, 14, 3, 1, 1, 1, 1}, {14, 7, 3, 2, 1, 0, 2},  {15, 8, 5, 2, 1, 2, 2},   {9, 5, 1, 2, 1, 0, 1},
        {20, 8, 3, 2, 2, 0, 1},  {6, 10, 3, 7, 3, 30, 3}, {12, 6, 3, 1, 2, -3, 1},  {5, 4, 3, 4, 6, 2, 2},
        {3, 20, 5, 1, 1, 10, 1}, {0, 4, 3, 1, 1, 3, 1},   {40, 10, 2, 3, 1, -4, 2},
    };
    for (const Row &row : rows) {
        ConvShape s;
        s.input[0] = row.input, s.output[0] = row.output, s.kernel[0] = row.kernel;
        s.stride[0] = row.stride, s.dilation[0] = row.dilation, s.pad_lo[0] = row.pad;
        const PaddedRow padded = padded_row(s, row.output);
        EXPECT_EQ(padded.phases.size(), row.phases) << row.stride << " " << row.dilation;
        for (const PaddedRow::Phase &p : padded.phases) {
            EXPECT_LE(0, p.first);
            EXPECT_LE(p.first, p.end);
            EXPECT_LE(p.end, padded.columns);
            for (int64_t x = 0; x < padded.columns; x++) {
                const int64_t at = x * row.stride + p.phase - row.pad;
                EXPECT_EQ(x >= p.first && x < p.end, at >= 0 && at < row.input) << at << " of " << row.input;
            }
        }
        for (int64_t tap = 0; tap < row.kernel; tap++) {
            const int64_t phase = tap * row.dilation % row.stride;
            EXPECT_TRUE(std::any_of(padded.phases.begin(), padded.phases.end(),
                                    [&](const PaddedRow::Phase &p) { return p.phase == phase; }));
            EXPECT_LT(row.output - 1 + tap * row.dilation / row.stride, padded.columns);
        }
    }
}

}  // namespace
}  // namespace kiln
