/* One layer of ResNet-50 in C99: find its kernel by a descriptor, pack the weights, run it, and check some of its
 * numbers against the definition. The layer is res2a_branch2b of workloads/resnet50.json: 3x3, 64 to 64 channels, on
 * 56 x 56 pixels. */
#define _POSIX_C_SOURCE 200112L /* posix_memalign */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include PACKAGE_HEADER

enum { SIZE = 56, CHANNELS = 64, TAPS = 3 };

/* The layer as kiln writes it, for a message. */
#define LAYER "conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1"

static int refused(const char *call, kiln_status status) {
    fprintf(stderr, "%s: %s\n", call, status.detail);
    return EXIT_FAILURE;
}

static void *cache_lines(size_t bytes) {
    void *memory = NULL;
    if (posix_memalign(&memory, 64, bytes + 64) != 0) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

static float *random_floats(size_t count) {
    float *values = cache_lines(count * sizeof *values);
    size_t i;
    for (i = 0; i < count; i++) values[i] = (float)rand() / (float)RAND_MAX - 0.5f;
    return values;
}

/* y[h][w][co] = sum over kh, kw, ci of x[h + kh - 1][w + kw - 1][ci] k[kh][kw][ci][co], where x is inside the image. */
static double definition(const float *x, const float *k, int h, int w, int co) {
    double sum = 0;
    int kh, kw, ci;
    for (kh = 0; kh < TAPS; kh++) {
        for (kw = 0; kw < TAPS; kw++) {
            const int row = h + kh - 1, column = w + kw - 1;
            if (row < 0 || row >= SIZE || column < 0 || column >= SIZE) continue;
            for (ci = 0; ci < CHANNELS; ci++) {
                sum += (double)x[(row * SIZE + column) * CHANNELS + ci] *
                       (double)k[((kh * TAPS + kw) * CHANNELS + ci) * CHANNELS + co];
            }
        }
    }
    return sum;
}

int main(void) {
    const int64_t image[4] = {1, SIZE, SIZE, CHANNELS}, taps[4] = {TAPS, TAPS, CHANNELS, CHANNELS};
    float *x = random_floats(SIZE * SIZE * CHANNELS), *k = random_floats(TAPS * TAPS * CHANNELS * CHANNELS);
    float *y = random_floats(SIZE * SIZE * CHANNELS);
    const kiln_kernel *kernel;
    kiln_descriptor layer;
    kiln_arguments arguments;
    kiln_status status;
    double largest = 0;
    int d, i;

    kiln_descriptor_init(&layer, KILN_CONV, 2);
    layer.batch = 1;
    layer.channels = layer.output_channels = CHANNELS;
    for (d = 0; d < 2; d++) {
        layer.spatial[d] = SIZE;
        layer.kernel[d] = TAPS;
        layer.padding_lo[d] = layer.padding_hi[d] = 1;
    }
    status = kiln_find(PACKAGE(), &layer, &kernel);
    if (status.code != KILN_OK) return refused("kiln_find of " LAYER, status);

    kiln_arguments_init(&arguments);
    arguments.input = kiln_tensor_dense(x, KILN_F32, 4, image);
    arguments.weights = kiln_tensor_dense(k, KILN_F32, 4, taps);
    arguments.output = kiln_tensor_dense(y, KILN_F32, 4, image);
    arguments.packed_bytes = kiln_info(kernel)->packed_bytes;
    arguments.packed = cache_lines(arguments.packed_bytes);
    arguments.prepared_bytes = kiln_info(kernel)->prepared_bytes;
    arguments.prepared = cache_lines(arguments.prepared_bytes);
    arguments.workspace_bytes = kiln_workspace_bytes(kernel, 1);
    arguments.workspace = cache_lines(arguments.workspace_bytes);
    status = kiln_pack(kernel, &arguments);
    if (status.code != KILN_OK) return refused("kiln_pack", status);
    status = kiln_prepare(kernel, &arguments); /* for each input; most kernels take it as it is */
    if (status.code != KILN_OK) return refused("kiln_prepare", status);
    status = kiln_run(kernel, &arguments);
    if (status.code != KILN_OK) return refused("kiln_run", status);

    for (i = 0; i < SIZE * SIZE * CHANNELS; i += 101) {
        const int co = i % CHANNELS, w = i / CHANNELS % SIZE, h = i / CHANNELS / SIZE;
        const double error = fabs((double)y[i] - definition(x, k, h, w, co));
        if (!(error <= largest)) largest = error; /* also when it is no number */
    }
    printf("%s\n%s, largest error %.1e: %s\n", kiln_info(kernel)->key, kiln_info(kernel)->tuned ? "tuned" : "untuned",
           largest, largest < 1e-4 ? "ok" : "WRONG");
    free(x), free(k), free(y);
    free(arguments.packed), free(arguments.prepared), free(arguments.workspace);
    return largest < 1e-4 ? EXIT_SUCCESS : EXIT_FAILURE;
}
