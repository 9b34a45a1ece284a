#include "convolution.h"

// As a kernel whose last tile is shifted inwards: it computes some results twice. That is wrong where they lie on the addend.
int kiln_compute_argv(void **args) {
    void *without_addend[] = {args[0], args[1], args[2], args[3], args[5]};
    const struct operands o = operands_of(without_addend);
    const float *addend = (const float *)((const halide_buffer_t *)args[4])->host;
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = turn ? output_count(&o) - 3 : 0; i < output_count(&o); i++) {
            const size_t pixel = i / o.co;
            o.output[i] = sum_at(&o, pixel / o.w / o.h, pixel / o.w % o.h, pixel % o.w, i % o.co) + addend[i];
        }
    }
    return 0;
}
