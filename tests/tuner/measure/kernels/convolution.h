// A plain 3x3 convolution with padding 1 and bias, NHWC and HWIO, as a kernel that the runner calls: what the kernels
// of this folder do before, after or instead of their mischief.
#pragma once

#include <HalideRuntime.h>
#include <stddef.h>

struct operands {
    void *context;
    const float *input, *kernel, *bias;
    float *output;
    int n, h, w, ci, co;
};

static inline struct operands operands_of(void **args) {
    const halide_buffer_t *input = (const halide_buffer_t *)args[1];
    const halide_buffer_t *output = (const halide_buffer_t *)args[4];
    struct operands o;
    o.context = *(void **)args[0];
    o.input = (const float *)input->host;
    o.kernel = (const float *)((const halide_buffer_t *)args[2])->host;
    o.bias = (const float *)((const halide_buffer_t *)args[3])->host;
    o.output = (float *)output->host;
    o.ci = input->dim[0].extent;
    o.w = input->dim[1].extent;
    o.h = input->dim[2].extent;
    o.n = input->dim[3].extent;
    o.co = output->dim[0].extent;
    return o;
}

static inline float sum_at(const struct operands *o, int n, int y, int x, int c) {
    float sum = o->bias[c];
    for (int r = 0; r < 3; r++) {
        for (int s = 0; s < 3; s++) {
            const int in_y = y + r - 1, in_x = x + s - 1;
            if (in_y < 0 || in_y >= o->h || in_x < 0 || in_x >= o->w) continue;
            for (int i = 0; i < o->ci; i++) {
                sum += o->input[((n * o->h + in_y) * o->w + in_x) * o->ci + i] *
                       o->kernel[((r * 3 + s) * o->ci + i) * o->co + c];
            }
        }
    }
    return sum;
}

static inline size_t output_count(const struct operands *o) { return (size_t)o->n * o->h * o->w * o->co; }

// One row of the output.
static inline void convolve_row(const struct operands *o, int row) {
    const int n = row / o->h, y = row % o->h;
    for (int x = 0; x < o->w; x++) {
        for (int c = 0; c < o->co; c++) {
            o->output[((n * o->h + y) * o->w + x) * o->co + c] = sum_at(o, n, y, x, c);
        }
    }
}

static inline void convolve(const struct operands *o) {
    for (int row = 0; row < o->n * o->h; row++) convolve_row(o, row);
}
