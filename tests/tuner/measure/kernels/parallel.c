// Rows in parallel, 1000 bytes of workspace in each, 5000 in the calling thread.
#include "convolution.h"

static int row_task(void *context, int row, uint8_t *closure) {
    char *workspace = (char *)halide_malloc(context, 1000);
    workspace[999] = 1;
    convolve_row((const struct operands *)closure, row);
    halide_free(context, workspace);
    return 0;
}

int kiln_compute_argv(void **args) {
    struct operands o = operands_of(args);
    char *workspace = (char *)halide_malloc(o.context, 5000);
    workspace[4999] = 1;
    const int code = halide_do_par_for(o.context, row_task, 0, o.n * o.h, (uint8_t *)&o);
    halide_free(o.context, workspace);
    return code;
}
