#include "convolution.h"

int kiln_compute_argv(void **args) {
    (void)args;
    *(volatile int *)16 = 1;
    return 0;
}
