#include "convolution.h"

int kiln_compute_argv(void **args) {
    const struct operands o = operands_of(args);
    convolve(&o);
    ((volatile float *)o.output)[-1] = 0;
    return 0;
}
