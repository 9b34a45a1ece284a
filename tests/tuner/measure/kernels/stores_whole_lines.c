#include <HalideRuntime.h>

// A copy of bytes that stores whole cache lines, also where the last one ends behind the result.
int kiln_compute_argv(void **args) {
    const halide_buffer_t *input = (const halide_buffer_t *)args[1], *output = (const halide_buffer_t *)args[2];
    const int count = output->dim[0].extent;
    for (int i = 0; i < (count + 63) / 64 * 64; i++) output->host[i] = i < count ? input->host[i] : 0;
    return 0;
}
