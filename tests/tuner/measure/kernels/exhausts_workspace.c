// Allocates without end, from the workspace.
#include "convolution.h"

int kiln_compute_argv(void **args) {
    const struct operands o = operands_of(args);
    for (;;) halide_malloc(o.context, 1 << 20);
}
