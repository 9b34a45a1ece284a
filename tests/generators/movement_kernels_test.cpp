// Kernels of data movement: every kind of permutation, dtype and tail, by every method that applies, built by the real
// generator and judged by the real runner against the reference loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "schedules/spaces/movement/matrix_form.h"
#include "schedules/spaces/movement/move_method.h"
#include "tests/drawn_workloads.h"
#include "tests/generators/built_kernels.h"

namespace kiln {
namespace {

class MovementKernels : public BuiltKernels {
protected:
    void expect_right(const Workload &workload, const Target &target, const Candidate &candidate) {
        EXPECT_EQ(problem(workload, target, candidate), "")
            << key(workload) << " " << to_text(target) << " " << to_text(candidate);
    }

    // The default candidate, and a draw of one of the methods that apply; each has its turn with `turn`.
    void expect_methods_right(const Workload &workload, const Target &target, uint64_t turn) {
        const Candidate untuned = *default_candidate(workload, target, core_of(machine_, target), default_error_budget);
        expect_right(workload, target, untuned);
        const Space space = find_algorithm(untuned.algorithm)->space(workload, target, core_of(machine_, target));
        const auto method = std::find_if(space.knobs().begin(), space.knobs().end(),
                                         [](const Knob &knob) { return knob.name == "method"; });
        const int64_t wanted = method->values[turn % method->values.size()];
        for (int tries = 0; tries < 200; tries++) {
            const auto drawn = space.sample(rng_);
            if (!drawn || drawn->knobs.at("method") != wanted) continue;
            return expect_right(workload, target, *drawn);
        }
    }

    Rng rng_{test_seed()};
};

// Tails of every tile, tensors smaller than a tile, ragged blocks read and written, blocks that do not divide each
// other, images that blocks do not divide, every rank and dtype.
constexpr const char *movements[] = {
    "layout_transform/input:1x1x1x1/from_layout:NHWC/to_layout:NCHW16c",
    "layout_transform/input:2x13x11x37/from_layout:NCHW/to_layout:NHWC",
    "layout_transform/input:2x13x11x64/dtype:bf16/from_layout:NHWC/to_layout:NCHW",
    "layout_transform/input:1x13x23x65/dtype:i8/from_layout:NCHW/to_layout:NHWC",
    "layout_transform/input:1x9x31x3/dtype:f16/from_layout:NCHW/to_layout:NHWC",
    "layout_transform/input:1x9x31x3/dtype:i8/from_layout:NHWC/to_layout:NCHW",
    "layout_transform/input:1x9x31x3/from_layout:NHWC/to_layout:NCHW16c",
    "layout_transform/input:1x9x31x5/from_layout:NCHW8c/to_layout:NHWC",
    "layout_transform/input:2x7x9x40/from_layout:NCHW16c/to_layout:NCHW8c",
    "layout_transform/input:2x7x9x40/dtype:f16/from_layout:NCHW8c/to_layout:NCHW16c",
    "layout_transform/input:1x7x9x40/dtype:i8/from_layout:NCHW12c/to_layout:NCHW16c",
    "layout_transform/input:6x5x3x20/from_layout:CHWN/to_layout:NCHW16c",
    "layout_transform/input:2x3x5x7x20/from_layout:NCHW8c/to_layout:CHWN",
    "layout_transform/input:2x30x20/from_layout:NHWC/to_layout:NCHW",
    "layout_transform/kernel:3x3x17x20/from_layout:OIHW/to_layout:OIHW16i16o",
    "layout_transform/kernel:3x3x17x20/from_layout:OIHW16i16o/to_layout:HWIO",
    "layout_transform/kernel:1x1x24x40/dtype:bf16/from_layout:HWIO/to_layout:OIHW4i16o4i",
    "layout_transform/kernel:2x3x3x9x10/from_layout:HWOI/to_layout:OIHW8o",
    "space_to_depth/input:2x14x38x3/block:2x2",
    "space_to_depth/input:1x15x37x3/dtype:i8/block:2x4",
    "space_to_depth/input:1x15x36x5/dtype:f16/input_layout:NCHW/output_layout:NCHW/block:3x2",
    "space_to_depth/input:1x16x32x3/block:16x16",
    "space_to_depth/input:1x8x20x3/input_layout:NCHW/block:2x2",
    "space_to_depth/input:1x8x20x3/output_layout:NCHW16c/block:2x2",
    "space_to_depth/input:2x6x8x12x3/block:2x2x2",
    "space_to_depth/input:2x61x3/block:4",
    "space_to_depth/input:3x4x5x3x5/dtype:bf16/input_layout:NCHW6c/block:2x1x4",
    "depth_to_space/input:2x7x19x12/block:2x2",
    "depth_to_space/input:1x7x18x24/dtype:i8/block:2x4",
    "depth_to_space/input:1x5x18x30/dtype:bf16/input_layout:NCHW/output_layout:NCHW/block:3x2",
    "depth_to_space/input:2x3x4x6x24/input_layout:NCHW8c/block:2x2x2",
    "depth_to_space/input:2x15x12/block:4",
};

TEST_F(MovementKernels, OnThisMachine) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    for (size_t i = 0; i < std::size(movements); i++) {
        const auto workload = parse_workload_key(movements[i]);
        ASSERT_TRUE(workload) << workload.error().message;
        expect_methods_right(*workload, target, i + test_seed());
    }
}

TEST_F(MovementKernels, OnOtherTargetsAndThreads) {
    const std::pair<const char *, int> targets[] = {{"baseline", 1}, {"avx2", 1}, {"host", 3}};
    for (size_t i = 0; i < std::size(movements); i++) {
        const auto &[name, threads] = targets[(i + test_seed()) % std::size(targets)];
        const Target target = *parse_target(name, threads, machine_.halide_target);
        if (!adds_to_host(target)) continue;
        expect_right(*parse_workload_key(movements[i]), target,
                     *default_candidate(*parse_workload_key(movements[i]), target, core_of(machine_, target),
                                        default_error_budget));
    }
}

// Blocks that are fetched: of the operand and of the result, whole and with tails on either digit, one run and several,
// where elements do not exist, for one thread and for more.
TEST_F(MovementKernels, FetchedBlocks) {
    constexpr const char *keys[] = {
        "layout_transform/input:2x13x11x37/from_layout:NCHW/to_layout:NHWC",
        "layout_transform/input:2x16x16x64/dtype:bf16/from_layout:NHWC/to_layout:NCHW",
        "layout_transform/input:1x13x23x65/dtype:i8/from_layout:NCHW/to_layout:NHWC",
        "layout_transform/input:1x9x31x21/from_layout:NCHW/to_layout:NCHW16c",
        "layout_transform/input:6x5x3x20/from_layout:CHWN/to_layout:NHWC",
        "layout_transform/kernel:3x3x17x20/from_layout:OIHW/to_layout:OIHW16i16o",
    };
    constexpr std::pair<int64_t, int64_t> blocks[] = {{2, 2}, {1, 8}, {16, 1}};  // read, written
    for (size_t k = 0; k < std::size(keys); k++) {
        const Workload workload = *parse_workload_key(keys[k]);
        for (size_t b = 0; b < std::size(blocks); b++) {
            for (int64_t ahead : {1, 2}) {
                if (!is_turn(k + b + static_cast<size_t>(ahead), 2)) continue;
                const Target target = *parse_target("host", ahead == 1 ? 1 : 3, machine_.halide_target);
                Candidate c = *default_candidate(workload, target, core_of(machine_, target), default_error_budget);
                c.knobs["lanes"] = 4, c.knobs["rows"] = 4, c.knobs["method"] = move_transpose;
                c.knobs["block_read"] = blocks[b].first, c.knobs["block_written"] = blocks[b].second;
                c.knobs["ahead"] = ahead, c.knobs["order"] = ahead == 2;
                expect_right(workload, target, c);
            }
        }
    }
}

// What the next turn of a loop reads: of rows and of shuffled tiles, loops that are shared among threads or not, the
// last turn, for which nothing is left.
TEST_F(MovementKernels, NextTurnsAreFetched) {
    constexpr const char *keys[] = {
        "space_to_depth/input:2x20x36x3/dtype:i8/block:2x2",
        "space_to_depth/input:3x12x32x3/block:2x2",
        "depth_to_space/input:2x16x16x12/input_layout:NCHW/output_layout:NCHW/block:2x2",
        "layout_transform/input:2x7x9x33/from_layout:NHWC/to_layout:NCHW16c",
        "layout_transform/input:2x16x16x3/dtype:bf16/from_layout:NCHW/to_layout:NHWC",
    };
    int fetched = 0;
    for (const char *key : keys) {
        const Workload workload = *parse_workload_key(key);
        for (const int threads : {1, 3}) {
            const Target target = *parse_target("host", threads, machine_.halide_target);
            Candidate c = *default_candidate(workload, target, core_of(machine_, target), default_error_budget);
            const Space space = find_algorithm(c.algorithm)->space(workload, target, core_of(machine_, target));
            for (const int64_t order : {0, 1}) {
                c.knobs["ahead"] = 1, c.knobs["order"] = order;
                if (!space.check(c)) continue;
                expect_right(workload, target, c);
                fetched++;
            }
        }
    }
    EXPECT_GE(fetched, 16);
}

// Blocks of matrices: whole and with tails on either side, one run and several, every dtype, for one thread and for
// more, for both kinds of vectors, by plain stores and, where lines are whole and many, by such that go past the
// caches.
TEST_F(MovementKernels, MatrixBlocks) {
    constexpr const char *keys[] = {
        "layout_transform/input:2x53x61x48/from_layout:NCHW/to_layout:NHWC",
        "layout_transform/input:2x60x60x37/from_layout:NHWC/to_layout:NCHW",
        "layout_transform/input:5x40x40x72/dtype:bf16/from_layout:NHWC/to_layout:NCHW",
        "layout_transform/input:1x73x83x192/dtype:i8/from_layout:NCHW/to_layout:NHWC",
        "layout_transform/input:32x25x23x20/from_layout:NHWC/to_layout:CHWN",
        "layout_transform/input:2x80x72x48/dtype:f16/from_layout:NCHW16c/to_layout:NCHW",
        "layout_transform/kernel:3x3x192x160/from_layout:OIHW/to_layout:OIHW16i16o",
        "layout_transform/kernel:5x5x160x160/dtype:f16/from_layout:OIHW/to_layout:OIHW16i32o",
        "space_to_depth/input:2x96x80x20/output_layout:NCHW/block:2x2",
        // Rows of the result that are not whole lines.
        "layout_transform/input:2x13x11x37/from_layout:NCHW/to_layout:NHWC",
        "layout_transform/input:3x17x13x35/dtype:bf16/from_layout:NHWC/to_layout:NCHW",
        "layout_transform/input:1x21x29x131/dtype:i8/from_layout:NHWC/to_layout:NCHW",
    };
    constexpr std::pair<int64_t, int64_t> blocks[] = {{1024, 1}, {1, 2}, {2, 1024}};  // read, written
    int streamed = 0;
    for (const char *key : keys) {
        const Workload workload = *parse_workload_key(key);
        for (const auto &[block_read, block_written] : blocks) {
            const Target target =
                *parse_target(block_read == 1 ? "baseline" : "host", block_read == 2 ? 3 : 1, machine_.halide_target);
            const MatrixForm form = matrix_form(movement(workload), target);
            if (form.rows < 0) continue;
            Candidate c = *default_candidate(workload, target, core_of(machine_, target), default_error_budget);
            const Space space = find_algorithm(c.algorithm)->space(workload, target, core_of(machine_, target));
            c.knobs["lanes"] = c.knobs["rows"] = 1, c.knobs["inner"] = 0;
            c.knobs["block_read"] = form.runs < 0 ? block_read : 1024, c.knobs["block_written"] = block_written;
            c.knobs["ahead"] = 1 + (form.rows_are_one_run(movement(workload)) && block_read == 1024);
            c.knobs["order"] = block_written == 1, c.knobs["parallel"] = target.threads > 1;
            for (const int64_t method : {move_matrix, move_stream}) {
                c.knobs["method"] = method;
                if (method == move_stream && !space.check(c)) continue;
                expect_right(workload, target, c);
                streamed += method == move_stream;
            }
        }
    }
    EXPECT_GE(streamed, 15);
}

TEST_F(MovementKernels, Random) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    for (int i = 0; i < 8; i++) {
        const Workload w = drawn_movement(rng_);
        ASSERT_TRUE(validate(w)) << key(w);
        expect_methods_right(w, target, i + test_seed());
    }
}

// NaN with a payload, subnormal numbers, signed zeros: every bit pattern arrives as it is.
TEST_F(MovementKernels, BitsStayAsTheyAre) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    const Workload w =
        *parse_workload_key("layout_transform/input:1x16x16x256/dtype:f16/from_layout:NCHW/to_layout:NHWC");
    Operands operands;
    operands.first = {DType::f16, {1, 256, 16, 16}, std::vector<std::byte>(2 * 65536)};
    const auto pattern = [](size_t c, size_t pixel) { return uint16_t(c << 8 | pixel); };
    for (size_t i = 0; i < 65536; i++) {
        const uint16_t bits = pattern(i / 256, i % 256);
        std::memcpy(operands.first.data.data() + 2 * i, &bits, 2);
    }
    const auto result =
        result_of(w, target, *default_candidate(w, target, core_of(machine_, target), default_error_budget), operands);
    ASSERT_TRUE(result) << result.error().message;
    for (size_t i = 0; i < 65536; i++) {
        uint16_t bits = 0;
        std::memcpy(&bits, result->data.data() + 2 * i, 2);
        ASSERT_EQ(bits, pattern(i % 256, i / 256)) << i;
    }
}

}  // namespace
}  // namespace kiln
