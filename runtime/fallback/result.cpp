#include "runtime/fallback/activation.h"
#include "runtime/fallback/block.h"
#include "runtime/fallback/element_runs.h"
#include "runtime/quantized_values.h"

namespace kiln {
namespace {

// Applies the epilogue's steps in order to the channels of one pixel.
void apply_epilogue(const FallbackBlock &b, int64_t pixel, int64_t channel, float *values) {
    const FallbackProblem &p = b.problem;
    for (int i = 0; i < p.workload.epilogue_count; i++) {
        const kiln_epilogue_step &step = p.workload.epilogue[i];
        float addend[column_block];
        switch (step.kind) {
            case KILN_EPILOGUE_BIAS:
                for (int c = 0; c < b.columns; c++) values[c] += p.bias[channel + c];
                break;
            case KILN_EPILOGUE_ADD:
                load_channels(p.map.walked(), p.addend, pixel, channel, b.columns, addend, 1);
                for (int c = 0; c < b.columns; c++) values[c] += addend[c];
                break;
            case KILN_EPILOGUE_PRELU:
                for (int c = 0; c < b.columns; c++) values[c] *= values[c] < 0 ? p.slope[channel + c] : 1;
                break;
            case KILN_EPILOGUE_SCALE:
                for (int c = 0; c < b.columns; c++) values[c] *= p.factor[channel + c];
                break;
            default:
                activate(step, values, b.columns);
        }
    }
}

// The columns with the last channel also write the zeros that fill up its block.
template<typename T>
void fill_up(const FallbackBlock &b, int64_t pixel, int64_t channel) {
    const Activation &form = b.map().walked();
    constexpr T zeros[column_block] = {};
    if (channel + b.columns != form.channels) return;
    for (int64_t filled = form.channels; filled < form.stored_channels;) {
        const int count = smaller(form.stored_channels - filled, column_block);
        store_channels(form, zeros, pixel, filled, count, b.problem.result);
        filled += count;
    }
}

void store_pixels(const FallbackBlock &b) {
    const Activation &form = b.map().walked();
    const int64_t channel = b.group * form.group_channels + b.first_column;
    for (int r = 0; r < b.rows; r++) {
        const int64_t pixel = b.scratch.places[r].pixel;
        float values[column_block];
        for (int c = 0; c < b.columns; c++) values[c] = static_cast<float>(b.scratch.sums[r * column_block + c]);
        apply_epilogue(b, pixel, channel, values);
        store_channels(form, values, pixel, channel, b.columns, b.problem.result);
        fill_up<float>(b, pixel, channel);
    }
}

void store_quantized_pixels(const FallbackBlock &b) {
    const Activation &form = b.map().walked();
    const int64_t channel = b.group * form.group_channels + b.first_column;
    for (int r = 0; r < b.rows; r++) {
        const int64_t pixel = b.scratch.places[r].pixel;
        int32_t values[column_block];
        for (int c = 0; c < b.columns; c++) {
            values[c] = quantized_result(b.problem.quantization, channel + c, b.scratch.sums[r * column_block + c]);
        }
        if (b.problem.addend != nullptr) {
            float addend[column_block];
            load_channels(form, b.problem.addend, pixel, channel, b.columns, addend, 1);
            for (int c = 0; c < b.columns; c++) {
                values[c] = quantized_sum(b.problem.quantization, values[c], static_cast<int32_t>(addend[c]));
            }
        }
        store_channels(form, values, pixel, channel, b.columns, b.problem.result);
        fill_up<int32_t>(b, pixel, channel);
    }
}

void store_weights(const FallbackBlock &b) {
    const Weights &form = b.map().weights;
    const int64_t column = b.group * b.map().extents.group_outputs + b.first_column;
    const int taps = b.map().list_taps(b.problem.left_channels, b.first_row, b.rows, b.scratch.taps);
    for (int t = 0; t < taps; t++) {
        const TapRun &run = b.scratch.taps[t];
        for (int i = 0; i < run.count; i++) {
            const double *sums = b.scratch.sums + (run.first + i) * column_block;
            float values[column_block];
            for (int c = 0; c < b.columns; c++) values[c] = static_cast<float>(sums[c]);
            const int64_t first = run.weights + (run.channel + i) * form.input_stride + column * form.output_stride;
            store_elements(values, {form.dtype, first, form.output_stride, b.columns}, b.problem.result);
        }
    }
}

}  // namespace

void store_block(const FallbackBlock &b) {
    if (is_quantized(b.problem.workload)) return store_quantized_pixels(b);
    b.problem.is_kernel ? store_weights(b) : store_pixels(b);
}

}  // namespace kiln
