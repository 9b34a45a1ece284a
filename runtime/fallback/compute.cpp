// The general kernel. It cuts the result into blocks and computes them in a parallel loop, as the descriptor says.
#include <HalideRuntime.h>

#include <initializer_list>

#include "runtime/dispatch.h"
#include "runtime/fallback/block.h"
#include "runtime/fallback/fallback.h"
#include "runtime/fallback/quantized_extents.h"
#include "runtime/parallel_loop.h"
#include "runtime/quantized_values.h"

namespace kiln {
namespace {

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The operands of a quantized convolution, in the order of tensor_arguments. Answers the result's memory.
void *set_quantization(const kiln_descriptor &workload, void **args, FallbackProblem *p) {
    int next = 3;
    const auto host = [&]() -> void * { return static_cast<halide_buffer_t *>(args[next++])->host; };
    const auto integers = [&] { return static_cast<const int32_t *>(host()); };
    FallbackQuantization &q = p->quantization;
    for (int i = 0; i < workload.epilogue_count; i++) {
        if (workload.epilogue[i].kind == KILN_EPILOGUE_BIAS) q.bias = integers();
        if (workload.epilogue[i].kind == KILN_EPILOGUE_ADD) p->addend = host();
    }
    const int32_t how = requantization_of(workload);
    const bool is_litert = how == KILN_EPILOGUE_REQUANTIZE_LITERT;
    p->map.input.zero_point = *integers();
    if (workload.kernel_zero_point) p->map.weights.zero_points = integers();
    if (is_litert) q.multiplier = integers(), q.shift = integers();
    if (how == KILN_EPILOGUE_REQUANTIZE_ONNX) q.scale = static_cast<const float *>(host());
    if (how != 0) q.zero_point = integers(), q.bounds = integers();
    if (p->addend == nullptr) return host();
    if (is_litert) {
        q.addend_zero_point = integers(), q.addition_multiplier = integers(), q.addition_shift = integers();
    } else {
        q.addition_factors = static_cast<const float *>(host());
    }
    q.addition_zero_point = integers(), q.addition_bounds = integers();
    return host();
}

void set_blocks(const kiln_descriptor &workload, FallbackProblem *p) {
    const ConvolutionExtents &e = p->map.extents;
    p->product = tile_product(enabled_cpu_features_without_tiles());
    p->is_kernel = workload.operation == KILN_CONV_BACKPROP_KERNEL;
    p->left_channels = p->map.walks_input ? e.group_outputs : e.group_inputs;
    p->group_columns = p->map.walks_input ? e.group_inputs : e.group_outputs;
    p->shares_columns = workload.feature_group_count > 1 && e.group_inputs * e.group_outputs <= most_shared_channels;
    p->columns = p->group_columns * (p->shares_columns ? e.groups : 1);
    const int64_t places = p->map.place_count(), taps = p->map.weights.taps() * p->left_channels;
    p->rows = p->is_kernel ? taps : places;
    p->depth = p->is_kernel ? places : taps;
}

FallbackProblem problem_of(const kiln_descriptor &workload, void **args) {
    const auto host = [&](int i) -> void * { return static_cast<halide_buffer_t *>(args[i])->host; };
    FallbackProblem p = {workload, convolution_map(workload), host(1), host(2)};
    if (is_quantized(workload)) {
        p.result = set_quantization(workload, args, &p);
        set_blocks(workload, &p);
        return p;
    }
    int next = 3;
    const auto operand_of = [&](int32_t step) -> const void * {
        for (int i = 0; i < workload.epilogue_count; i++) {
            if (workload.epilogue[i].kind == step) return host(next++);
        }
        return nullptr;
    };
    p.bias = static_cast<const float *>(operand_of(KILN_EPILOGUE_BIAS));
    p.addend = operand_of(KILN_EPILOGUE_ADD);
    p.slope = static_cast<const float *>(operand_of(KILN_EPILOGUE_PRELU));
    p.factor = static_cast<const float *>(operand_of(KILN_EPILOGUE_SCALE));
    p.result = host(next);
    set_blocks(workload, &p);
    return p;
}

// How the result is cut into blocks. Blocks have fewer rows where there would be too few blocks for the threads.
struct Blocks {
    Blocks(const FallbackProblem &problem, int threads)
        : groups(problem.shares_columns ? 1 : problem.map.extents.groups),
          across(ceil_divide(problem.columns, column_block)) {
        for (const int tried : {row_block, 72, 48, 24}) {
            rows = tried;
            down = ceil_divide(problem.rows, rows);
            if (threads == 1 || count() >= 4 * threads) break;
        }
    }
    int64_t count() const { return groups * across * down; }

    int64_t groups, across, down;
    int rows;
};

void compute_block(const FallbackProblem &p, const Blocks &blocks, int64_t index, FallbackScratch &scratch) {
    const int64_t row = index % blocks.down * blocks.rows;
    const int64_t column = index / blocks.down % blocks.across * column_block;
    const int64_t group = index / blocks.down / blocks.across;
    const FallbackBlock block = {
        p, scratch, group, row, column, smaller(p.rows - row, blocks.rows), smaller(p.columns - column, column_block)};
    p.shares_columns ? multiply_columns(block) : multiply_tiles(block);
    store_block(block);
}

struct Loop {
    static constexpr int no_scratch = -1;

    const FallbackProblem &problem;
    const Blocks &blocks;
    int64_t blocks_at_once;

    // The scratch memory is taken anew each time, since an arena gives it at no cost.
    static int run(void *context, int index, uint8_t *closure) {
        const Loop &loop = *reinterpret_cast<const Loop *>(closure);
        Arena &arena = static_cast<KernelContext *>(context)->arena;
        auto *scratch = static_cast<FallbackScratch *>(allocate(arena, sizeof(FallbackScratch)));
        if (scratch == nullptr) return no_scratch;
        const int64_t first = index * loop.blocks_at_once, all = loop.blocks.count();
        for (int64_t block = first; block < first + loop.blocks_at_once && block < all; block++) {
            compute_block(loop.problem, loop.blocks, block, *scratch);
        }
        deallocate(arena, scratch);
        return 0;
    }
};

}  // namespace

size_t fallback_scratch_bytes() { return sizeof(ArenaBlock) + align_up(sizeof(FallbackScratch)); }

int compute_fallback(const kiln_descriptor &workload, void **args) {
    const KernelContext &context = **static_cast<KernelContext **>(args[0]);
    const FallbackProblem problem = problem_of(workload, args);
    const Blocks blocks(problem, context.parallel.threads);
    constexpr int64_t most_iterations = 1 << 20;
    const int64_t at_once = ceil_divide(blocks.count(), most_iterations);
    if (at_once == 0) return 0;
    Loop loop = {problem, blocks, at_once};
    const auto iterations = static_cast<int>(ceil_divide(blocks.count(), at_once));
    return run_parallel(context, Loop::run, 0, iterations, reinterpret_cast<uint8_t *>(&loop));
}

}  // namespace kiln
