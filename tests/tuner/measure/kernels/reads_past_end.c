#include "convolution.h"

int kiln_compute_argv(void **args) {
    const struct operands o = operands_of(args);
    convolve(&o);
    return ((volatile const float *)o.input)[o.n * o.h * o.w * o.ci] == 12345.0f;
}
