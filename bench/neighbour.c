/* A neighbour on the machine: streams through memory in minutes drawn at random, and rests in between. For measuring whether
 * tuning bears it. It ends by itself: after its time, or with whoever started it.
 *
 *   neighbour CPU SECONDS SEED [BUSY QUIET]    seconds of a stretch, at most; 20 each */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { longest_seconds = 4 * 3600, words = (48 << 20) / 8 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t state;
static double drawn(double most) { /* splitmix64 */
    uint64_t x = state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return most * (0.1 + 0.9 * (double)((x ^ x >> 31) >> 11) * 0x1p-53);
}

/* Plain loads and stores, which push the data of others out of the shared cache. Stores past the caches would not. */
static void stream(volatile uint64_t *data) {
    for (size_t i = 0; i < words; i += 8) data[i]++;
}

int main(int argc, char **argv) {
    if (argc != 4 && argc != 6) {
        fprintf(stderr, "usage: neighbour CPU SECONDS SEED [BUSY QUIET]\n");
        return 2;
    }
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(atoi(argv[1]), &cpus);
    const double seconds = atof(argv[2]) < longest_seconds ? atof(argv[2]) : longest_seconds;
    state = strtoull(argv[3], NULL, 10);
    const double busy = argc == 6 ? atof(argv[4]) : 20, quiet = argc == 6 ? atof(argv[5]) : 20;
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0 || !(busy > 0) || !(quiet > 0)) {
        fprintf(stderr, "neighbour: no such CPU, or a stretch of no time\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    uint64_t *data = calloc(words, sizeof *data);
    if (!data) return 3;
    const double end = now() + seconds;
    while (now() < end) {
        for (const double until = now() + drawn(busy); now() < until && now() < end;) stream(data);
        const double rest = drawn(quiet), left = end - now();
        if (left > 0) usleep((useconds_t)(1e6 * (rest < left ? rest : left)));
    }
    free(data);
    return 0;
}
