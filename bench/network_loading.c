/* How long a program takes to load a network: the library, the weights and their binding, until it can be called.
 *
 *   network-loading LIBRARY.so NAME WEIGHTS      prints one JSON object; times in ms */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/kiln.h"

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int fail(const char *what, const char *why) {
    fprintf(stderr, "network-loading: %s: %s\n", what, why);
    return 3;
}

int main(int argc, char **argv) {
    if (argc != 4) return fputs("usage: network-loading LIBRARY.so NAME WEIGHTS\n", stderr), 2;
    char symbol[512];
    if (snprintf(symbol, sizeof symbol, "%s_network", argv[2]) >= (int)sizeof symbol) return fail(argv[2], "too long");
    const double start = now_ms();
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return fail(argv[1], dlerror());
    const kiln_network *(*find)(void);
    *(void **)&find = dlsym(library, symbol);
    if (!find) return fail(symbol, dlerror());
    const kiln_network *network = find();
    kiln_weights weights;
    kiln_bound_network bound;
    kiln_status status = kiln_map_weights(network, argv[3], &weights);
    if (status.code == KILN_OK) status = kiln_bind_network(network, weights.data, weights.bytes, &bound);
    const double ms = now_ms() - start;
    if (status.code != KILN_OK) return fail(argv[3], status.detail);
    printf("{\"ms\": %.3f, \"bytes\": %zu}\n", ms, weights.bytes);
    return 0;
}
