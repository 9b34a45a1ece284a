#include "convolution.h"

int kiln_compute_argv(void **args) {
    const struct operands o = operands_of(args);
    convolve(&o);
    ((volatile float *)o.input)[3] = 0;
    return 0;
}
