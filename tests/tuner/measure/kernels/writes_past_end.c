#include "convolution.h"

int kiln_compute_argv(void **args) {
    const struct operands o = operands_of(args);
    convolve(&o);
    o.output[output_count(&o) + 2] = 0;
    return 0;
}
