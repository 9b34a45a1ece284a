/* Convolutions that nobody tuned, in C99: a package that was built with `kiln build --fallback` computes them too.
 *
 *   any_sizes [BATCH HEIGHT WIDTH CHANNELS OUTPUT_CHANNELS STRIDE]
 *
 * A 3x3 convolution of two groups with padding, NCHW, bias and relu, of sizes that the command line gives; every number
 * is checked against the definition. Exit status 1 where one is wrong. */
#define _POSIX_C_SOURCE 200112L /* posix_memalign */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include PACKAGE_HEADER

enum { TAPS = 3, GROUPS = 2 };

static int refused(const char *call, kiln_status status) {
    fprintf(stderr, "%s: %s\n", call, status.detail);
    return EXIT_FAILURE;
}

/* Packed and prepared operands are whole cache lines. */
static void *cache_lines(size_t bytes) {
    void *memory = NULL;
    if (posix_memalign(&memory, 64, bytes + 64) != 0) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

static float *random_floats(int64_t count) {
    float *values = cache_lines((size_t)count * sizeof *values);
    int64_t i;
    for (i = 0; i < count; i++) values[i] = (float)rand() / (float)RAND_MAX - 0.5f;
    return values;
}

/* y[n][o][p][q] = relu(bias[o] + sum over r, s, i of x[n][group(o) * Ci + i][p * stride + r - 1][...] k[r][s][i][o]) */
static double definition(const kiln_descriptor *d, const float *x, const float *k, double bias, const int64_t at[4]) {
    const int64_t inputs = d->channels / GROUPS, group = at[1] / (d->output_channels / GROUPS);
    double sum = bias;
    int64_t r, s, i;
    for (r = 0; r < TAPS; r++) {
        for (s = 0; s < TAPS; s++) {
            const int64_t row = at[2] * d->strides[0] + r - 1, column = at[3] * d->strides[1] + s - 1;
            if (row < 0 || row >= d->spatial[0] || column < 0 || column >= d->spatial[1]) continue;
            for (i = 0; i < inputs; i++) {
                const int64_t channel = at[0] * d->channels + group * inputs + i;
                sum += (double)x[(channel * d->spatial[0] + row) * d->spatial[1] + column] *
                       (double)k[((r * TAPS + s) * inputs + i) * d->output_channels + at[1]];
            }
        }
    }
    return sum < 0 ? 0 : sum;
}

static double largest_error(const kiln_descriptor *d, const kiln_arguments *a) {
    const float *y = a->output.data, *bias = a->bias.data;
    const int64_t *shape = a->output.shape;
    double largest = 0;
    int64_t at[4];
    for (at[0] = 0; at[0] < shape[0]; at[0]++) {
        for (at[1] = 0; at[1] < shape[1]; at[1]++) {
            for (at[2] = 0; at[2] < shape[2]; at[2]++) {
                for (at[3] = 0; at[3] < shape[3]; at[3]++) {
                    const double right = definition(d, a->input.data, a->weights.data, bias[at[1]], at);
                    largest = fmax(largest, fabs(*y++ - right));
                }
            }
        }
    }
    return largest;
}

int main(int argc, char **argv) {
    int64_t sizes[6] = {1, 13, 17, 10, 6, 2};
    int64_t x[4], k[4], y[4];
    static kiln_fallback memory; /* the kernel lies in it */
    const kiln_kernel *kernel;
    kiln_descriptor layer;
    kiln_arguments arguments;
    kiln_status status;
    double error;
    int i;

    for (i = 0; i < 6 && i + 1 < argc; i++) sizes[i] = atoll(argv[i + 1]);
    kiln_descriptor_init(&layer, KILN_CONV, 2);
    layer.batch = sizes[0];
    layer.channels = sizes[3];
    layer.output_channels = sizes[4];
    layer.feature_group_count = GROUPS;
    layer.input_layout = layer.output_layout = KILN_NCHW;
    layer.epilogue_count = 2;
    layer.epilogue[0].kind = KILN_EPILOGUE_BIAS;
    layer.epilogue[1].kind = KILN_EPILOGUE_RELU;
    for (i = 0; i < 2; i++) {
        layer.spatial[i] = sizes[1 + i];
        layer.kernel[i] = TAPS;
        layer.strides[i] = sizes[5];
        layer.padding_lo[i] = layer.padding_hi[i] = 1;
    }
    status = kiln_find_or_fallback(PACKAGE(), &layer, &memory, &kernel);
    if (status.code != KILN_OK) return refused("kiln_find_or_fallback", status);

    x[0] = sizes[0], x[1] = sizes[3], x[2] = sizes[1], x[3] = sizes[2];
    k[0] = k[1] = TAPS, k[2] = sizes[3] / GROUPS, k[3] = sizes[4];
    y[0] = sizes[0], y[1] = sizes[4], y[2] = (sizes[1] - 1) / sizes[5] + 1, y[3] = (sizes[2] - 1) / sizes[5] + 1;
    kiln_arguments_init(&arguments);
    arguments.input = kiln_tensor_dense(random_floats(x[0] * x[1] * x[2] * x[3]), KILN_F32, 4, x);
    arguments.weights = kiln_tensor_dense(random_floats(k[0] * k[1] * k[2] * k[3]), KILN_F32, 4, k);
    arguments.bias = kiln_tensor_dense(random_floats(y[1]), KILN_F32, 1, &y[1]);
    arguments.output = kiln_tensor_dense(random_floats(y[0] * y[1] * y[2] * y[3]), KILN_F32, 4, y);
    arguments.workspace_bytes = kiln_workspace_bytes(kernel, 1);
    arguments.workspace = cache_lines(arguments.workspace_bytes);
    /* A kernel of the package's own may want packed weights or a prepared input; the fallback takes them as they are. */
    arguments.packed_bytes = kiln_info(kernel)->packed_bytes;
    arguments.packed = cache_lines(arguments.packed_bytes);
    arguments.prepared_bytes = kiln_info(kernel)->prepared_bytes;
    arguments.prepared = cache_lines(arguments.prepared_bytes);
    status = kiln_pack(kernel, &arguments);
    if (status.code != KILN_OK) return refused("kiln_pack", status);
    status = kiln_prepare(kernel, &arguments);
    if (status.code != KILN_OK) return refused("kiln_prepare", status);
    status = kiln_run(kernel, &arguments);
    if (status.code != KILN_OK) return refused("kiln_run", status);

    error = largest_error(&layer, &arguments);
    printf("%s: largest error %.1e, %s\n", kiln_info(kernel)->candidate, error, error < 1e-4 ? "ok" : "wrong");
    return error < 1e-4 ? EXIT_SUCCESS : EXIT_FAILURE;
}
