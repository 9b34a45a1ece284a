/* Runs every workload of a package on this CPU, whatever it is, with the kernel that dispatch chooses: tests run it
 * natively and under an emulator. Workloads are two-dimensional forward convolutions of f32 in NHWC and HWIO without an
 * epilogue.
 *
 * Prints `KEY TARGET` for each, TARGET being what the chosen kernel was compiled for. Exit status 1 where a number is
 * wrong, where a kernel that this CPU cannot run is not refused, or where dispatch for other features is wrong. */
#define _POSIX_C_SOURCE 200112L /* posix_memalign */

#include <stdio.h>
#include <stdlib.h>

#include PACKAGE_HEADER

static int failures = 0;

static void fail(const char *what, const kiln_kernel_info *info, const char *detail) {
    printf("%s: %s, %s: %s\n", what, info->key, info->target, detail);
    failures++;
}

static void *cache_lines(size_t bytes) {
    void *memory = NULL;
    if (posix_memalign(&memory, 64, bytes + 64) != 0) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

/* Small integers, so that sums are exact in any order. */
static float *small_integers(int64_t count) {
    float *values = cache_lines((size_t)count * sizeof *values);
    int64_t i;
    for (i = 0; i < count; i++) values[i] = (float)(i * 7919 % 17 - 8);
    return values;
}

static int64_t output_extent(const kiln_descriptor *d, int i) {
    return (d->spatial[i] + d->padding_lo[i] + d->padding_hi[i] - d->kernel[i]) / d->strides[i] + 1;
}

/* The definition, for one output element. */
static float expected(const kiln_descriptor *d, const float *x, const float *k, const int64_t at[4]) {
    float sum = 0;
    int64_t r, s, c;
    for (r = 0; r < d->kernel[0]; r++) {
        for (s = 0; s < d->kernel[1]; s++) {
            const int64_t h = at[1] * d->strides[0] + r - d->padding_lo[0];
            const int64_t w = at[2] * d->strides[1] + s - d->padding_lo[1];
            if (h < 0 || h >= d->spatial[0] || w < 0 || w >= d->spatial[1]) continue;
            for (c = 0; c < d->channels; c++) {
                sum += x[((at[0] * d->spatial[0] + h) * d->spatial[1] + w) * d->channels + c] *
                       k[((r * d->kernel[1] + s) * d->channels + c) * d->output_channels + at[3]];
            }
        }
    }
    return sum;
}

static int all_right(const kiln_descriptor *d, const float *x, const float *k, const float *y) {
    int64_t at[4];
    for (at[0] = 0; at[0] < d->batch; at[0]++) {
        for (at[1] = 0; at[1] < output_extent(d, 0); at[1]++) {
            for (at[2] = 0; at[2] < output_extent(d, 1); at[2]++) {
                for (at[3] = 0; at[3] < d->output_channels; at[3]++) {
                    if (*y++ != expected(d, x, k, at)) return 0;
                }
            }
        }
    }
    return 1;
}

/* Packs and runs; answers the first status that is not KILN_OK. */
static kiln_status call(const kiln_kernel *kernel, const float *x, const float *k, float *y) {
    const kiln_kernel_info *info = kiln_info(kernel);
    const kiln_descriptor *d = info->workload;
    const int64_t input[4] = {d->batch, d->spatial[0], d->spatial[1], d->channels};
    const int64_t weights[4] = {d->kernel[0], d->kernel[1], d->channels, d->output_channels};
    const int64_t output[4] = {d->batch, output_extent(d, 0), output_extent(d, 1), d->output_channels};
    kiln_arguments arguments;
    kiln_status status;
    kiln_arguments_init(&arguments);
    arguments.input = kiln_tensor_dense(x, KILN_F32, 4, input);
    arguments.weights = kiln_tensor_dense(k, KILN_F32, 4, weights);
    arguments.output = kiln_tensor_dense(y, KILN_F32, 4, output);
    arguments.packed_bytes = info->packed_bytes;
    arguments.packed = cache_lines(info->packed_bytes);
    arguments.prepared_bytes = info->prepared_bytes;
    arguments.prepared = cache_lines(info->prepared_bytes);
    arguments.workspace_bytes = kiln_workspace_bytes(kernel, 1);
    arguments.workspace = cache_lines(arguments.workspace_bytes);
    status = kiln_pack(kernel, &arguments);
    if (status.code == KILN_OK) status = kiln_prepare(kernel, &arguments);
    if (status.code == KILN_OK) status = kiln_run(kernel, &arguments);
    free(arguments.packed), free(arguments.prepared), free(arguments.workspace);
    return status;
}

/* The kernel that dispatch chooses must compute, and every other one of the workload must either compute too or be
 * refused. */
static void check_kernel(const kiln_package *package, const kiln_kernel *kernel) {
    const kiln_kernel_info *info = kiln_info(kernel);
    const kiln_descriptor *d = info->workload;
    const int64_t outputs = d->batch * output_extent(d, 0) * output_extent(d, 1) * d->output_channels;
    float *x = small_integers(d->batch * d->spatial[0] * d->spatial[1] * d->channels);
    float *k = small_integers(d->kernel[0] * d->kernel[1] * d->channels * d->output_channels);
    float *y = small_integers(outputs + 1);
    const int runs_here = (info->cpu_features & ~kiln_cpu_features(package)) == 0;
    const kiln_status status = call(kernel, x, k, y);
    if (runs_here && status.code != KILN_OK) fail("refused", info, status.detail);
    if (runs_here && !all_right(d, x, k, y)) fail("wrong", info, "an output is not what the definition says");
    if (!runs_here && status.code != KILN_UNSUPPORTED_CPU) fail("not refused", info, status.detail);
    free(x), free(k), free(y);
}

/* A CPU with exactly the features that a kernel needs gets this kernel, or one that stands before it in the order. */
static void check_masks(const kiln_package *package, size_t index) {
    const kiln_kernel_info *info = kiln_info(kiln_kernel_at(package, index));
    const kiln_kernel *found = NULL;
    const kiln_status status = kiln_find_for(package, info->workload, info->cpu_features, &found);
    size_t i;
    if (status.code != KILN_OK) {
        fail("kiln_find_for", info, status.detail);
        return;
    }
    if ((kiln_info(found)->cpu_features & ~info->cpu_features) != 0) fail("kiln_find_for", info, "needs more");
    for (i = 0; i < index; i++) {
        if (kiln_kernel_at(package, i) == found) return;
    }
    if (found != kiln_kernel_at(package, index)) fail("kiln_find_for", info, "answers a later kernel");
}

int main(void) {
    const kiln_package *package = PACKAGE();
    size_t i;
    for (i = 0; i < kiln_kernel_count(package); i++) {
        const kiln_kernel *kernel = kiln_kernel_at(package, i), *chosen = NULL;
        const kiln_kernel_info *info = kiln_info(kernel);
        const kiln_status status = kiln_find(package, info->workload, &chosen);
        check_masks(package, i);
        check_kernel(package, kernel);
        if (status.code != KILN_OK) fail("kiln_find", info, status.detail);
        if (chosen == kernel) printf("%s %s\n", info->key, info->target);
    }
    return failures > 0;
}
