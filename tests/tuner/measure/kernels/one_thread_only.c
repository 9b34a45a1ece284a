// Keeps the row that it works on where all threads see it: wrong as soon as two of them work.
#include <sched.h>

#include "convolution.h"

static volatile int shared_row, met_another;

static int row_task(void *context, int row, uint8_t *closure) {
    (void)context;
    shared_row = row;
    // Gives another thread time to join, on a busy machine too.
    for (int i = 0; i < 200000 && !met_another; i++) {
        sched_yield();
        if (shared_row != row) met_another = 1;
    }
    convolve_row((const struct operands *)closure, shared_row);
    return 0;
}

int kiln_compute_argv(void **args) {
    struct operands o = operands_of(args);
    return halide_do_par_for(o.context, row_task, 0, o.n * o.h, (uint8_t *)&o);
}
