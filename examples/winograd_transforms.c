/* A convolution made of the three Winograd transforms of a package and a product of its own, on random numbers,
 * compared with plain loops. For a package of these workloads (`kiln build --workloads`):
 *
 *   {"format": "workloads/1", "name": "transforms", "workloads": [
 *     {"name": "input", "op": "winograd_input_transform", "input": [1, 9, 10, 8], "padding": [[1, 1], [1, 1]],
 *      "window": [3, 3], "tile": [4, 4]},
 *     {"name": "filter", "op": "winograd_filter_transform", "kernel": [3, 3, 8, 16], "tile": [4, 4]},
 *     {"name": "output", "op": "winograd_output_transform", "input": [1, 3, 3, 16], "window": [3, 3], "tile": [4, 4],
 *      "output": [9, 10]}]} */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include PACKAGE_HEADER

enum { H = 9, W = 10, CI = 8, CO = 16, R = 3, M = 4, A = M + R - 1, TILES_Y = 3, TILES_X = 3 };

static float image[H][W][CI], weights[R][R][CI][CO], output[H][W][CO];
/* Transformed: a tile's two dimensions outermost. */
static float v[A][A][TILES_Y * TILES_X][CI], u[A][A][CI][CO], product[A][A][TILES_Y * TILES_X][CO];

static void fill(float *values, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] = 2.0f * (float)rand() / (float)RAND_MAX - 1;
}

static kiln_descriptor describe(int32_t operation) {
    kiln_descriptor d;
    kiln_descriptor_init(&d, operation, 2);
    for (int i = 0; i < 2; i++) d.kernel[i] = R, d.tile[i] = M;
    return d;
}

/* Looks the kernel up and runs it on tensors of the shapes that are given, outermost dimension first. */
static int run(const kiln_descriptor *d, kiln_tensor operand, kiln_tensor result) {
    const kiln_kernel *kernel = NULL;
    kiln_status status = kiln_find(PACKAGE(), d, &kernel);
    if (status.code == KILN_OK) {
        kiln_arguments arguments;
        kiln_arguments_init(&arguments);
        if (d->operation == KILN_WINOGRAD_FILTER_TRANSFORM) {
            arguments.weights = operand;
        } else {
            arguments.input = operand;
        }
        arguments.output = result;
        arguments.workspace_bytes = kiln_workspace_bytes(kernel, 1);
        arguments.workspace = malloc(arguments.workspace_bytes);
        status = kiln_run(kernel, &arguments);
        free(arguments.workspace);
    }
    if (status.code != KILN_OK) printf("operation %d: %s\n", (int)d->operation, status.detail);
    return status.code == KILN_OK;
}

static int transform(void) {
    const int64_t image_shape[] = {1, H, W, CI}, weights_shape[] = {R, R, CI, CO}, output_shape[] = {1, H, W, CO};
    const int64_t v_shape[] = {A, A, 1, TILES_Y, TILES_X, CI}, u_shape[] = {A, A, CI, CO};
    const int64_t product_shape[] = {A, A, 1, TILES_Y, TILES_X, CO};
    kiln_descriptor input = describe(KILN_WINOGRAD_INPUT_TRANSFORM), filter = describe(KILN_WINOGRAD_FILTER_TRANSFORM);
    kiln_descriptor inverse = describe(KILN_WINOGRAD_OUTPUT_TRANSFORM);
    input.batch = 1, input.spatial[0] = H, input.spatial[1] = W, input.channels = CI;
    for (int i = 0; i < 2; i++) input.padding_lo[i] = input.padding_hi[i] = 1;
    filter.channels = CI, filter.output_channels = CO;
    inverse.batch = 1, inverse.spatial[0] = TILES_Y, inverse.spatial[1] = TILES_X, inverse.channels = CO;
    inverse.output[0] = H, inverse.output[1] = W;
    if (!run(&input, kiln_tensor_dense(image, KILN_F32, 4, image_shape), kiln_tensor_dense(v, KILN_F32, 6, v_shape)) ||
        !run(&filter, kiln_tensor_dense(weights, KILN_F32, 4, weights_shape),
             kiln_tensor_dense(u, KILN_F32, 4, u_shape))) {
        return 0;
    }
    for (int place = 0; place < A * A; place++)
        for (int tile = 0; tile < TILES_Y * TILES_X; tile++)
            for (int co = 0; co < CO; co++) {
                float sum = 0;
                for (int ci = 0; ci < CI; ci++)
                    sum += v[place / A][place % A][tile][ci] * u[place / A][place % A][ci][co];
                product[place / A][place % A][tile][co] = sum;
            }
    return run(&inverse, kiln_tensor_dense(product, KILN_F32, 6, product_shape),
               kiln_tensor_dense(output, KILN_F32, 4, output_shape));
}

static double direct(int y, int x, int co) {
    double sum = 0;
    for (int r = 0; r < R; r++)
        for (int s = 0; s < R; s++)
            for (int ci = 0; ci < CI; ci++) {
                const int iy = y + r - 1, ix = x + s - 1;
                if (iy >= 0 && iy < H && ix >= 0 && ix < W) sum += (double)image[iy][ix][ci] * weights[r][s][ci][co];
            }
    return sum;
}

int main(void) {
    double largest = 0;
    fill(&image[0][0][0], sizeof image / sizeof(float));
    fill(&weights[0][0][0][0], sizeof weights / sizeof(float));
    if (!transform()) return EXIT_FAILURE;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int co = 0; co < CO; co++) largest = fmax(largest, fabs(output[y][x][co] - direct(y, x, co)));
    printf("largest error %.1e: %s\n", largest, largest < 1e-4 ? "ok" : "WRONG");
    return largest < 1e-4 ? EXIT_SUCCESS : EXIT_FAILURE;
}
