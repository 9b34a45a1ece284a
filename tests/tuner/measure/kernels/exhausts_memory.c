// Allocates without end, from the system.
#include <stdlib.h>
#include <string.h>

static char *volatile last;

int kiln_compute_argv(void **args) {
    (void)args;
    for (;;) {
        last = (char *)malloc(1 << 20);
        memset(last, 1, 1 << 20);
    }
}
