/* Two layers of a network on a soft core: a depthwise and a pointwise convolution of a 12x12 picture, by kernels of a package,
 * beside the plain loops that define them. layers.json is what the package is built of; Makefile says how.
 *
 * The numbers are made up here. A network's come from its file: weights, biases, multipliers and shifts a channel, and the zero
 * points of what goes in and comes out.
 */
#include <demo.h>

#include "console.h"

enum { size = 12, inputs = 8, outputs = 16 };

static int8_t picture[size * size * inputs], between[size * size * inputs], result[size * size * outputs];
static int8_t expected[size * size * outputs];

static int8_t depthwise_kernel[9 * inputs], pointwise_kernel[inputs * outputs];
static int32_t bias[outputs], multiplier[outputs], shift[outputs];
static const demo_constants depthwise = {.kernel = depthwise_kernel,
                                         .bias = bias,
                                         .multiplier = multiplier,
                                         .shift = shift,
                                         .input_zero_point = -128,
                                         .output_zero_point = 5,
                                         .result_bounds = {-128, 127}};
static const demo_constants pointwise = {.kernel = pointwise_kernel,
                                         .bias = bias,
                                         .multiplier = multiplier,
                                         .shift = shift,
                                         .input_zero_point = 5,
                                         .output_zero_point = -3,
                                         .result_bounds = {-100, 127}};

static int32_t depthwise_packed[DEMO_DEPTHWISE_PACKED_WORDS], pointwise_packed[DEMO_POINTWISE_PACKED_WORDS];
static int64_t workspace[DEMO_MOST_WORKSPACE_BYTES / 8 + 1];

static uint32_t state = 1;
static int32_t drawn(void) { return (int32_t)((state = state * 1664525 + 1013904223) >> 16); }

static void fill(int8_t *numbers, int32_t count) {
    for (int32_t i = 0; i < count; i++) numbers[i] = (int8_t)(drawn() % 256 - 128);
}

/* From a sum to a result, as LiteRT's reference rounds: by 2^31, halves up, then by a power of two, halves away from zero. */
static int8_t requantized(int32_t sum, int32_t channel, const demo_constants *c) {
    const int64_t product = (int64_t)sum * c->multiplier[channel];
    const int32_t high = (int32_t)((product + (1 << 30)) >> 31), right = -c->shift[channel];
    const int32_t mask = (1 << right) - 1;
    const int32_t rounded = (high >> right) + ((high & mask) > (mask >> 1) + (high < 0)) + c->output_zero_point;
    if (rounded < c->result_bounds[0]) return (int8_t)c->result_bounds[0];
    return (int8_t)(rounded > c->result_bounds[1] ? c->result_bounds[1] : rounded);
}

static void plain_depthwise(const int8_t *in, int8_t *out) {
    for (int32_t y = 0; y < size; y++) {
        for (int32_t x = 0; x < size; x++) {
            for (int32_t c = 0; c < inputs; c++) {
                int32_t sum = bias[c];
                for (int32_t tap = 0; tap < 9; tap++) {
                    const int32_t at_y = y + tap / 3 - 1, at_x = x + tap % 3 - 1;
                    if (at_y < 0 || at_y >= size || at_x < 0 || at_x >= size) continue;
                    sum += (in[(at_y * size + at_x) * inputs + c] - depthwise.input_zero_point) *
                           depthwise_kernel[tap * inputs + c];
                }
                out[(y * size + x) * inputs + c] = requantized(sum, c, &depthwise);
            }
        }
    }
}

static void plain_pointwise(const int8_t *in, int8_t *out) {
    for (int32_t p = 0; p < size * size; p++) {
        for (int32_t c = 0; c < outputs; c++) {
            int32_t sum = bias[c];
            for (int32_t k = 0; k < inputs; k++) {
                sum += (in[p * inputs + k] - pointwise.input_zero_point) * pointwise_kernel[k * outputs + c];
            }
            out[p * outputs + c] = requantized(sum, c, &pointwise);
        }
    }
}

static int32_t differences(const int8_t *a, const int8_t *b, int32_t count) {
    int32_t found = 0;
    for (int32_t i = 0; i < count; i++) found += a[i] != b[i];
    return found;
}

int main(void) {
    fill(picture, sizeof picture);
    fill(depthwise_kernel, sizeof depthwise_kernel);
    fill(pointwise_kernel, sizeof pointwise_kernel);
    for (int32_t c = 0; c < outputs; c++) {
        bias[c] = drawn() % 2000 - 1000;
        multiplier[c] = (1 << 30) + drawn() * 1000;
        shift[c] = -(drawn() % 4) - 6;
    }
    demo_depthwise_pack(&depthwise, depthwise_packed, workspace);
    demo_pointwise_pack(&pointwise, pointwise_packed, workspace);

    begin_counting();
    demo_depthwise(picture, depthwise_packed, between, workspace);
    end_counting();
    plain_depthwise(picture, expected);
    int32_t wrong = differences(between, expected, sizeof between);

    begin_counting();
    demo_pointwise(between, pointwise_packed, result, workspace);
    end_counting();
    plain_pointwise(between, expected);
    wrong += differences(result, expected, sizeof result);

    write_text("results that differ from plain loops: ");
    write_number(wrong);
    write_text("\n");
    return wrong != 0;
}
