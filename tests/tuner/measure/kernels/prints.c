// Writes to stdout, where the measuring process answers.
#include <stdio.h>

#include "convolution.h"

int kiln_compute_argv(void **args) {
    const struct operands o = operands_of(args);
    convolve(&o);
    printf("{\"status\":\"crash\",\"message\":\"hello\"}\n");
    fflush(stdout);
    return 0;
}
