// One element is off by a thousandth.
#include "convolution.h"

int kiln_compute_argv(void **args) {
    const struct operands o = operands_of(args);
    convolve(&o);
    o.output[((2 * o.w) + 1) * o.co + 5] += 1e-3f;
    return 0;
}
