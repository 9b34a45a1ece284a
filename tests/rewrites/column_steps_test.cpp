#include "rewrites/column_steps.h"

#include <gtest/gtest.h>

#include <map>

namespace kiln {
namespace {

struct Row {
    int64_t kernel, stride, dilation, parts, most_shared, groups;
};
constexpr Row rows[] = {
    {3, 1, 1, 4, 2, 1}, {3, 2, 1, 4, 1, 1}, {2, 1, 1, 4, 3, 1}, {5, 1, 1, 4, 4, 2}, {5, 2, 1, 4, 2, 2},
    {7, 1, 1, 4, 2, 2}, {7, 3, 1, 4, 1, 2}, {3, 1, 2, 4, 1, 1}, {5, 1, 3, 4, 1, 2}, {5, 2, 2, 4, 1, 2},
    {9, 3, 5, 4, 1, 3}, {3, 1, 1, 2, 2, 2}, {3, 2, 1, 2, 1, 2}, {4, 1, 1, 2, 1, 2}, {5, 1, 1, 2, 2, 3},
    {3, 3, 2, 2, 1, 2}, {4, 5, 1, 4, 1, 1},
};

ConvShape shape_of(const Row &row) {
    ConvShape s;
    s.kernel[0] = row.kernel, s.stride[0] = row.stride, s.dilation[0] = row.dilation;
    return s;
}

TEST(ColumnSteps, ShareAsManyOutputsAsFit) {
    for (const Row &row : rows) {
        const ConvShape s = shape_of(row);
        EXPECT_EQ(most_shared(s, row.parts), row.most_shared) << row.kernel << " " << row.stride << " " << row.dilation;
        EXPECT_EQ(column_steps(s, row.parts, row.most_shared).groups, row.groups) << row.kernel << " " << row.stride;
    }
}

// Followed through steps, groups and parts, each output meets each of its taps once, at the tap's column.
TEST(ColumnSteps, MeetEveryTapOnceAtItsColumn) {
    for (const Row &row : rows) {
        const ConvShape s = shape_of(row);
        for (int64_t share = 1; share <= row.most_shared; share++) {
            const ColumnSteps steps = column_steps(s, row.parts, share);
            for (int64_t x = 0; x < 4 * share; x++) {
                std::map<int64_t, int> met;
                for (int64_t group = 0; group < steps.groups; group++) {
                    for (int64_t part = 0; part < row.parts; part++) {
                        const int64_t step = x / share * steps.of_output + group * steps.of_group;
                        const int64_t in_step = column_of_part(row.parts, part);
                        const int64_t tap = steps.tap(s, x % share, group, part);
                        if (tap < 0 || tap >= row.kernel) continue;
                        met[tap]++;
                        EXPECT_EQ(step * steps.unit + in_step * row.dilation, x * row.stride + tap * row.dilation);
                    }
                }
                EXPECT_EQ(int64_t(met.size()), row.kernel) << row.kernel << " " << row.stride << " share " << share;
                for (const auto &[tap, times] : met) EXPECT_EQ(times, 1) << tap;
            }
        }
    }
}

// Parts 0 and 2 of a step are the columns of its first pair, 1 and 3 those of the other.
TEST(ColumnSteps, AreMadeOfPairs) {
    for (const Row &row : rows) {
        if (row.parts != 4) continue;
        const ColumnSteps steps = column_steps(shape_of(row), 4, row.most_shared);
        for (int64_t step = 0; step < 5; step++) {
            for (int64_t part = 0; part < 4; part++) {
                const int64_t pair = step * steps.of_step + part % 2 * steps.between;
                const int64_t column = steps.first_column(pair, row.dilation) + part / 2 * row.dilation;
                EXPECT_EQ(column, step * steps.unit + column_of_part<int64_t>(4, part) * row.dilation)
                    << row.kernel << " " << row.stride << " " << row.dilation;
            }
        }
    }
}

}  // namespace
}  // namespace kiln
