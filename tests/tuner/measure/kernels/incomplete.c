// Leaves the last two elements as they were.
#include "convolution.h"

int kiln_compute_argv(void **args) {
    const struct operands o = operands_of(args);
    const size_t count = output_count(&o);
    const float last = o.output[count - 1], before = o.output[count - 2];
    convolve(&o);
    o.output[count - 1] = last;
    o.output[count - 2] = before;
    return 0;
}
