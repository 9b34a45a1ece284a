/* Plain C for one layer, which kernels are held against: loops in the order of LiteRT's reference, or, with CHUNK channels at a
 * time, a depthwise convolution that keeps their sums in an array. Called like a layer of a package (layer.c).
 *
 * Sizes are macros: INPUT_H, INPUT_W, INPUT_C, OUTPUT_H, OUTPUT_W, OUTPUT_C, KERNEL_H, KERNEL_W, KERNEL_C (channels of a filter),
 * STRIDE_H, STRIDE_W, PAD_TOP, PAD_LEFT. A filter's numbers lie side by side where sums go over channels, as LiteRT stores them.
 */
#include <stdint.h>

#include "package.h"

#define JOINED(a, b) a##b
#define NAMED(a, b) JOINED(a, b)

enum { kernel_elements = KERNEL_H * KERNEL_W * KERNEL_C * OUTPUT_C };

struct layer {
    int32_t bias[OUTPUT_C], multiplier[OUTPUT_C], shift[OUTPUT_C];
    int32_t input_zero_point, output_zero_point, least, most;
    int8_t kernel[kernel_elements];
};

void NAMED(FUNCTION, _pack)(const bench_constants *constants, int32_t *packed, void *workspace) {
    struct layer *layer = (struct layer *)packed;
    (void)workspace;
    for (int32_t c = 0; c < OUTPUT_C; c++) {
        layer->bias[c] = constants->bias[c];
        layer->multiplier[c] = constants->multiplier[c];
        layer->shift[c] = constants->shift[c];
    }
    layer->input_zero_point = constants->input_zero_point;
    layer->output_zero_point = constants->output_zero_point;
    layer->least = constants->result_bounds[0];
    layer->most = constants->result_bounds[1];
    for (int32_t i = 0; i < kernel_elements; i++) {
        const int32_t channel = i % OUTPUT_C, rest = i / OUTPUT_C;
        const int32_t at = KERNEL_C == 1 ? i : channel * (kernel_elements / OUTPUT_C) + rest;
        layer->kernel[at] = constants->kernel[i];
    }
}

static int32_t requantized(int32_t sum, int32_t multiplier, int32_t shift) {
    const int32_t left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
    const int64_t product = (int64_t)(sum * (1 << left)) * multiplier;
    const int32_t nudge = product >= 0 ? 1 << 30 : 1 - (1 << 30);
    const int32_t high = (int32_t)((product + nudge) / (INT64_C(1) << 31));
    const int32_t mask = (1 << right) - 1;
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0));
}

static int8_t result(const struct layer *layer, int32_t sum, int32_t channel) {
    int32_t value = requantized(sum + layer->bias[channel], layer->multiplier[channel], layer->shift[channel]);
    value += layer->output_zero_point;
    if (value < layer->least) value = layer->least;
    if (value > layer->most) value = layer->most;
    return (int8_t)value;
}

static int is_inside(int32_t y, int32_t x) { return y >= 0 && y < INPUT_H && x >= 0 && x < INPUT_W; }

#if defined(CHUNK)

void FUNCTION(const void *input_bytes, const int32_t *packed, void *output_bytes, void *workspace) {
    const struct layer *layer = (const struct layer *)packed;
    const int8_t *input = input_bytes;
    int8_t *output = output_bytes;
    enum { multiplier = OUTPUT_C / INPUT_C };
    (void)workspace;
    for (int32_t y = 0; y < OUTPUT_H; y++)
        for (int32_t x = 0; x < OUTPUT_W; x++)
            for (int32_t m = 0; m < multiplier; m++)
                for (int32_t first = 0; first < INPUT_C; first += CHUNK) {
                    const int32_t channels = INPUT_C - first < CHUNK ? INPUT_C - first : CHUNK;
                    int32_t sums[CHUNK];
                    for (int32_t c = 0; c < channels; c++) sums[c] = 0;
                    for (int32_t r = 0; r < KERNEL_H; r++)
                        for (int32_t s = 0; s < KERNEL_W; s++) {
                            const int32_t in_y = y * STRIDE_H + r - PAD_TOP, in_x = x * STRIDE_W + s - PAD_LEFT;
                            if (!is_inside(in_y, in_x)) continue;
                            const int8_t *in = input + (in_y * INPUT_W + in_x) * INPUT_C + first;
                            const int8_t *kernel =
                                layer->kernel + (r * KERNEL_W + s) * OUTPUT_C + first * multiplier + m;
                            for (int32_t c = 0; c < channels; c++)
                                sums[c] += kernel[c * multiplier] * (in[c] - layer->input_zero_point);
                        }
                    for (int32_t c = 0; c < channels; c++) {
                        const int32_t channel = (first + c) * multiplier + m;
                        output[(y * OUTPUT_W + x) * OUTPUT_C + channel] = result(layer, sums[c], channel);
                    }
                }
}

#else

void FUNCTION(const void *input_bytes, const int32_t *packed, void *output_bytes, void *workspace) {
    const struct layer *layer = (const struct layer *)packed;
    const int8_t *input = input_bytes;
    int8_t *output = output_bytes;
    enum { groups = INPUT_C / KERNEL_C, group_outputs = OUTPUT_C / groups };
    (void)workspace;
    for (int32_t y = 0; y < OUTPUT_H; y++)
        for (int32_t x = 0; x < OUTPUT_W; x++)
            for (int32_t channel = 0; channel < OUTPUT_C; channel++) {
                int32_t sum = 0;
                for (int32_t r = 0; r < KERNEL_H; r++)
                    for (int32_t s = 0; s < KERNEL_W; s++) {
                        const int32_t in_y = y * STRIDE_H + r - PAD_TOP, in_x = x * STRIDE_W + s - PAD_LEFT;
                        if (!is_inside(in_y, in_x)) continue;
                        const int32_t tap = r * KERNEL_W + s, first = channel / group_outputs * KERNEL_C;
                        const int8_t *in = input + (in_y * INPUT_W + in_x) * INPUT_C + first;
                        for (int32_t c = 0; c < KERNEL_C; c++) {
                            const int32_t at = KERNEL_C == 1 ? tap * OUTPUT_C + channel
                                                             : (channel * KERNEL_H * KERNEL_W + tap) * KERNEL_C + c;
                            sum += layer->kernel[at] * (in[c] - layer->input_zero_point);
                        }
                    }
                output[(y * OUTPUT_W + x) * OUTPUT_C + channel] = result(layer, sum, channel);
            }
}

#endif
