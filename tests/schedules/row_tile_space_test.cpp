// Rows of depthwise convolutions that are copied into registers, and the defaults that races decided.
#include "schedules/spaces/depthwise/row_tile_space.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/target_names.h"

namespace kiln {
namespace {

constexpr const char *avx512_target = "x86-64-linux-avx512_skylake", *avx2_target = "x86-64-linux-avx2-fma";
constexpr const char *in_nchw = "/input_layout:NCHW/output_layout:NCHW",
                     *in_8 = "/input_layout:NCHW8c/output_layout:NCHW8c";

// A square image, window, and padding that keeps the image's size.
std::string depthwise_key(int64_t side, int64_t channels, int64_t window, int64_t stride, const std::string &layout) {
    const std::string s = std::to_string(side), c = std::to_string(channels), k = std::to_string(window),
                      p = std::to_string(window / 2), strides = std::to_string(stride);
    const std::string strided = stride > 1 ? "/strides:" + strides + "x" + strides : "";
    return "conv2d/input:1x" + s + "x" + s + "x" + c + "/kernel:" + k + "x" + k + "x1x" + c + strided +
           "/padding:" + p + "," + p + "x" + p + "," + p + "/feature_group_count:" + c + layout;
}

Space rows_of(const std::string &key, const char *target, int threads = 1, const Machine &machine = machine_of_zen5()) {
    const Target of{target, threads};
    return row_tile_space({}, conv_loops(*parse_workload_key(key)), of, core_of(machine, of));
}

RowTileKnobs default_rows(const std::string &key, const char *target, const Machine &machine = machine_of_zen5()) {
    const Space space = rows_of(key, target, 1, machine);
    EXPECT_TRUE(space.check(space.default_candidate())) << key << ' ' << target;
    return *decode_knobs<RowTileKnobs>(space.default_candidate().knobs);
}

TEST(RowTileSpace, DefaultsThatWereRaced) {
    const struct {
        int64_t side, channels, window, stride;
        const char *layout, *target;
        int64_t slide, vectors, rows;  // 0: whatever
        const char *why;
    } rows[] = {
        {28, 240, 3, 2, in_nchw, zen5_target, 2, 1, 8, "columns that a stride takes apart"},
        {28, 240, 3, 2, in_nchw, avx512_target, 2, 1, 8, "fewer loads on every CPU with masks"},
        {28, 240, 3, 2, in_nchw, avx2_target, 0, 0, 0, "shuffles of several instructions"},
        {112, 32, 5, 2, in_nchw, zen5_target, 2, 4, 2, "a row of four vectors"},
        {160, 32, 3, 2, in_nchw, zen5_target, 2, 3, 2, "even shares of five vectors"},
        {14, 480, 3, 1, in_nchw, zen5_target, 2, 1, 8, "one vector a row"},
        {14, 480, 3, 1, in_nchw, zen4_target, 0, 0, 0, "nobody raced there"},
        {16, 480, 3, 1, in_nchw, zen5_target, 0, 0, 0, "rows of whole lines are loaded as fast"},
        {7, 960, 3, 1, in_nchw, zen5_target, 0, 0, 0, "half vectors"},
        {112, 32, 3, 1, in_nchw, zen5_target, 2, 7, 2, "a row of seven vectors"},
        {56, 144, 3, 1, in_nchw, zen5_target, 0, 0, 0, "four vectors that each tap loads"},
        {28, 240, 5, 1, in_nchw, zen5_target, 0, 1, 4, "25 weights leave room for few sums"},
        {28, 240, 7, 1, in_nchw, zen5_target, 2, 2, 4, "49 taps"},
        {40, 240, 7, 1, in_nchw, zen5_target, 0, 0, 0, "pairs of vectors would compute a fourth"},
        {64, 240, 5, 1, in_nchw, zen5_target, 0, 4, 0, "rows of whole lines"},
        {14, 480, 3, 1, in_8, zen5_target, 2, 7, 2, "a row of seven vectors"},
        {56, 144, 3, 1, in_8, zen5_target, 2, 4, 2, "tiles of a row"},
        {7, 960, 3, 1, in_8, zen5_target, 2, 4, 4, "few vectors, more rows"},
        {56, 144, 5, 1, in_8, zen5_target, 2, 1, 7, "25 weights leave room for few sums"},
        {56, 144, 5, 2, in_8, zen5_target, 2, 1, 4, "a long row with strides"},
        {28, 144, 5, 2, in_8, zen5_target, 2, 7, 1, "a short row with strides"},
        {28, 8, 3, 1, "", zen5_target, 2, 4, 2, "NHWC with fewer channels than a vector has lanes"},
    };
    for (const auto &row : rows) {
        const std::string key = depthwise_key(row.side, row.channels, row.window, row.stride, row.layout);
        const RowTileKnobs knobs = default_rows(key, row.target);
        EXPECT_EQ(knobs.slide, row.slide) << key << ": " << row.why;
        EXPECT_EQ(row.vectors ? knobs.vectors : 0, row.vectors) << key << ": " << row.why;
        EXPECT_EQ(row.rows ? knobs.rows : 0, row.rows) << key << ": " << row.why;
    }
}

// Weights of one column at a time where that was raced: on a Golden Cove, without strides.
TEST(RowTileSpace, DefaultsThatSumByColumns) {
    const struct {
        int64_t side, channels, window, stride;
        int64_t by_columns, lanes, vectors, rows;  // of the tile where it sums so
        const char *why;
    } rows[] = {
        {14, 480, 5, 1, 1, 16, 1, 14, "a plane a tile"},
        {14, 480, 3, 1, 1, 16, 1, 14, "one vector a row"},
        {16, 480, 3, 1, 1, 16, 1, 16, "a whole vector a row"},
        {7, 960, 3, 1, 1, 8, 1, 7, "rows of half a vector"},
        {28, 240, 5, 1, 1, 16, 2, 7, "two vectors a row"},
        {40, 96, 5, 1, 1, 16, 3, 5, "three vectors a row"},
        {80, 48, 5, 1, 1, 16, 5, 4, "five vectors a row"},
        {112, 32, 5, 1, 1, 16, 3, 5, "a long row"},
        {56, 96, 7, 1, 1, 16, 4, 4, "49 taps"},
        {28, 240, 3, 1, 0, 0, 0, 0, "nine weights stay in registers"},
        {28, 240, 5, 2, 0, 0, 0, 0, "columns that a stride takes apart"},
        {40, 64, 9, 1, 0, 0, 0, 0, "more masks than mask registers"},
    };
    for (const auto &row : rows) {
        const std::string key = depthwise_key(row.side, row.channels, row.window, row.stride, in_nchw);
        const RowTileKnobs knobs = default_rows(key, emerald_rapids_target, machine_of_emerald_rapids());
        EXPECT_EQ(knobs.by_columns, row.by_columns) << key << ": " << row.why;
        if (!row.by_columns) continue;
        EXPECT_EQ(knobs.masked, 1) << key;
        EXPECT_EQ(knobs.lanes, row.lanes) << key << ": " << row.why;
        EXPECT_EQ(knobs.vectors, row.vectors) << key << ": " << row.why;
        EXPECT_EQ(knobs.rows, row.rows) << key << ": " << row.why;
        EXPECT_EQ(default_rows(key, zen5_target).by_columns, 0) << key << ": nobody raced other CPUs";
    }
}

TEST(RowTileSpace, DefaultsOfBlocksThatSumByColumns) {
    const struct {
        int64_t side, window, stride;
        int64_t by_columns, vectors, rows;  // of the tile where it sums so
        const char *why;
    } rows[] = {
        {14, 5, 1, 1, 1, 14, "a column of the image a tile"},
        {28, 5, 1, 1, 1, 14, "half a column"},
        {20, 7, 1, 1, 1, 10, "even shares"},
        {7, 5, 1, 1, 4, 4, "whole short rows"},
        {28, 3, 1, 1, 2, 7, "two vectors of nine taps"},
        {14, 3, 1, 1, 1, 14, "one vector of them"},
        {56, 3, 1, 0, 0, 0, "a long row of few taps"},
        {7, 3, 1, 0, 0, 0, "a short row of few taps"},
        {28, 5, 2, 1, 1, 14, "with strides"},
        {7, 5, 2, 1, 2, 4, "short rows with strides"},
        {28, 3, 2, 0, 0, 0, "few taps with strides"},
        {40, 9, 1, 0, 0, 0, "more columns than were raced"},
    };
    for (const auto &row : rows) {
        const std::string key = depthwise_key(row.side, 96, row.window, row.stride, in_8);
        const RowTileKnobs knobs = default_rows(key, emerald_rapids_target, machine_of_emerald_rapids());
        EXPECT_EQ(knobs.by_columns, row.by_columns) << key << ": " << row.why;
        if (!row.by_columns) continue;
        EXPECT_EQ(knobs.slide, 2) << key;
        EXPECT_EQ(knobs.vectors, row.vectors) << key << ": " << row.why;
        EXPECT_EQ(knobs.rows, row.rows) << key << ": " << row.why;
        EXPECT_EQ(default_rows(key, zen5_target).by_columns, 0) << key << ": nobody raced other CPUs";
    }
}

// Windows that are long, tall or have gaps: the default keeps to the limits, on threads, too.
TEST(RowTileSpace, DefaultsLieInTheirSpace) {
    for (const char *key : {"conv2d/input:1x100x70x8/kernel:64x3x1x8/padding:2,2x1,1/feature_group_count:8",
                            "conv2d/input:1x9x200x8/kernel:1x64x1x8/feature_group_count:8",
                            "conv2d/input:1x40x70x8/kernel:3x3x1x8/rhs_dilation:2x2/feature_group_count:8",
                            "conv2d/input:1x40x170x8/kernel:9x40x1x8/strides:2x2/feature_group_count:8",
                            "conv1d/input:1x70x8/kernel:5x1x8/padding:2,2/feature_group_count:8"}) {
        for (const char *layout : {in_nchw, in_8, "/input_layout:NCHW4c/output_layout:NCHW4c", ""}) {
            for (const char *target : {zen5_target, avx512_target, avx2_target}) {
                const std::string of = std::string(key) + layout;
                const bool is_of_blocks = std::string(layout) != in_nchw;
                if (is_of_blocks &&
                    !copies_to_registers(conv_loops(*parse_workload_key(of)), vector_lanes({target, 1})))
                    continue;
                for (const int threads : {1, 2}) {
                    const Space space = rows_of(of, target, threads);
                    const Status fits = space.check(space.default_candidate());
                    EXPECT_TRUE(fits) << of << ' ' << to_text(space.default_candidate()) << ": "
                                      << fits.error().message;
                }
            }
        }
    }
}

TEST(RowTileSpace, RefusesWhatRegistersDoNotHold) {
    const Space space = rows_of(depthwise_key(28, 32, 3, 1, in_nchw), avx512_target);
    Candidate c = space.default_candidate();
    c.knobs.erase("masked");
    c.knobs["slide"] = 2, c.knobs["unroll_rows"] = 1, c.knobs["channel_block"] = 1;
    c.knobs["vectors"] = 1, c.knobs["rows"] = 16;
    EXPECT_TRUE(space.check(c));
    const struct {
        const char *knob;
        int64_t value;
        const char *message;
    } rows[] = {{"unroll_rows", 0, "rows in registers are"},
                {"channel_block", 2, "rows in registers are"},
                {"masked", 1, "rows in registers are"},
                {"slide", 1, "more than 8 rows"}};
    for (const auto &row : rows) {
        Candidate other = c;
        other.knobs[row.knob] = row.value;
        const Status fits = space.check(other);
        ASSERT_FALSE(fits) << row.knob;
        EXPECT_NE(fits.error().message.find(row.message), std::string::npos)
            << row.knob << ": " << fits.error().message;
    }
}

}  // namespace
}  // namespace kiln
