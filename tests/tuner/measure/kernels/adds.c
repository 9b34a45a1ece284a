#include "convolution.h"

// With an addend in front of the output.
int kiln_compute_argv(void **args) {
    void *without_addend[] = {args[0], args[1], args[2], args[3], args[5]};
    const struct operands o = operands_of(without_addend);
    const float *addend = (const float *)((const halide_buffer_t *)args[4])->host;
    for (size_t i = 0; i < output_count(&o); i++) {
        const size_t pixel = i / o.co;
        o.output[i] = sum_at(&o, pixel / o.w / o.h, pixel / o.w % o.h, pixel % o.w, i % o.co) + addend[i];
    }
    return 0;
}
