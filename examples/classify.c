/* Classifies a picture with a network in C99: maps the weights, binds them, runs the network once, and prints the five
 * best classes.
 *
 *   classify NAME.weights picture.ppm [MEAN STD [LABELS.txt]]
 *
 * The picture is a binary PPM (P6) of any size; the nearest pixels are taken. Each channel is (value / 255 - mean) / std
 * before the network sees it; MEAN and STD are one number or three, as 0.485,0.456,0.406. LABELS.txt has a class a line.
 * The network has one f32 input of 1x3xHxW or 1xHxWx3, and its first output has a number for each class. */
#define _POSIX_C_SOURCE 200112L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include PACKAGE_HEADER

enum { CHANNELS = 3, BEST = 5, LONGEST_SIDE = 1 << 14, LONGEST_LABEL = 256 };

typedef struct picture {
    int width, height;
    unsigned char *pixels; /* rows of red, green, blue */
} picture;

static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static void check(const char *call, kiln_status status) {
    if (status.code != KILN_OK) die(call, status.detail);
}

/* A number of a PPM's header; comments begin with # and go to the end of their line. */
static int header_number(FILE *file, const char *path) {
    int c = fgetc(file), number = 0, digits = 0;
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '#') {
        if (c == '#') {
            while (c != '\n' && c != EOF) c = fgetc(file);
        }
        c = fgetc(file);
    }
    for (; c >= '0' && c <= '9'; c = fgetc(file), digits++) {
        number = 10 * number + (c - '0');
        if (number > LONGEST_SIDE) die(path, "is too large");
    }
    if (digits == 0) die(path, "is no PPM");
    return number;
}

static picture read_picture(const char *path) {
    FILE *file = fopen(path, "rb");
    picture p;
    size_t bytes;
    if (!file) die(path, "cannot be opened");
    if (fgetc(file) != 'P' || fgetc(file) != '6') die(path, "is no binary PPM (P6)");
    p.width = header_number(file, path);
    p.height = header_number(file, path);
    if (header_number(file, path) != 255) die(path, "has not 8 bits a channel");
    if (p.width == 0 || p.height == 0) die(path, "is empty");
    bytes = (size_t)p.width * (size_t)p.height * CHANNELS;
    p.pixels = malloc(bytes);
    if (!p.pixels) die(path, "out of memory");
    if (fread(p.pixels, 1, bytes, file) != bytes) die(path, "is cut");
    fclose(file);
    return p;
}

/* One number for all channels, or one for each. */
static void read_channels(const char *text, float values[CHANNELS]) {
    const int found = sscanf(text, "%f,%f,%f", &values[0], &values[1], &values[2]);
    if (found == 1) values[1] = values[2] = values[0];
    if (found != 1 && found != CHANNELS) die(text, "is neither one number nor three with commas between");
}

static void *memory_for(size_t bytes) {
    void *memory = NULL;
    if (posix_memalign(&memory, 64, bytes + 64) != 0) die("memory", "there is not enough");
    return memory;
}

/* The picture in the size and order of the input. */
static void fill_input(const picture *p, const kiln_port *port, const float *mean, const float *std, float *input) {
    const int channels_last = port->shape[1] != CHANNELS;
    const int64_t height = port->shape[channels_last ? 1 : 2], width = port->shape[channels_last ? 2 : 3];
    int64_t h, w;
    int c;
    for (h = 0; h < height; h++) {
        for (w = 0; w < width; w++) {
            const unsigned char *pixel =
                p->pixels +
                ((size_t)(h * p->height / height) * (size_t)p->width + (size_t)(w * p->width / width)) * CHANNELS;
            for (c = 0; c < CHANNELS; c++) {
                const int64_t at = channels_last ? (h * width + w) * CHANNELS + c : (c * height + h) * width + w;
                input[at] = ((float)pixel[c] / 255 - mean[c]) / std[c];
            }
        }
    }
}

static void print_label(const char *path, long line) {
    char text[LONGEST_LABEL] = "";
    FILE *file = fopen(path, "r");
    if (!file) die(path, "cannot be opened");
    for (; line >= 0 && fgets(text, sizeof text, file); line--) {
    }
    fclose(file);
    if (line < 0) printf(" %.*s", (int)strcspn(text, "\r\n"), text);
}

static void print_best(const float *scores, size_t count, const char *labels) {
    size_t best[BEST], found = 0, i, j;
    for (i = 0; i < count; i++) {
        for (j = found; j > 0 && scores[best[j - 1]] < scores[i]; j--) {
            if (j < BEST) best[j] = best[j - 1];
        }
        if (j < BEST) best[j] = i;
        if (found < BEST) found++;
    }
    for (i = 0; i < found; i++) {
        printf("%10.4f  class %lu", (double)scores[best[i]], (unsigned long)best[i]);
        if (labels) print_label(labels, (long)best[i]);
        printf("\n");
    }
}

int main(int count, char **arguments) {
    const kiln_network *network = NETWORK();
    const kiln_network_info *info = kiln_describe_network(network);
    const kiln_port *port = info->inputs;
    float mean[CHANNELS] = {0, 0, 0}, std[CHANNELS] = {1, 1, 1};
    kiln_network_arguments run;
    kiln_bound_network bound;
    kiln_weights weights;
    const void **inputs;
    void **outputs;
    picture p;
    size_t i;
    if (count != 3 && count != 5 && count != 6)
        die("usage", "classify NAME.weights picture.ppm [MEAN STD [LABELS.txt]]");
    if (info->input_count != 1 || info->output_count < 1 || port->dtype != KILN_F32 || port->rank != 4 ||
        port->shape[0] != 1 || (port->shape[1] != CHANNELS && port->shape[3] != CHANNELS)) {
        die(info->name, "has not one f32 input of 1x3xHxW or 1xHxWx3");
    }
    if (info->outputs[0].dtype != KILN_F32)
        die(info->name, "has a first output that is not f32: no number for each class");
    if (count > 3) read_channels(arguments[3], mean), read_channels(arguments[4], std);
    p = read_picture(arguments[2]);

    check("kiln_map_weights", kiln_map_weights(network, arguments[1], &weights));
    check("kiln_bind_network", kiln_bind_network(network, weights.data, weights.bytes, &bound));
    inputs = memory_for(sizeof *inputs);
    outputs = memory_for(info->output_count * sizeof *outputs);
    inputs[0] = memory_for(port->bytes);
    for (i = 0; i < info->output_count; i++) outputs[i] = memory_for(info->outputs[i].bytes);
    fill_input(&p, port, mean, std, (float *)inputs[0]);
    kiln_network_arguments_init(&run);
    run.inputs = inputs;
    run.outputs = outputs;
    run.workspace_bytes = kiln_network_workspace_bytes(network, 1);
    run.workspace = memory_for(run.workspace_bytes);
    check("kiln_run_network", kiln_run_network(&bound, &run));
    print_best(outputs[0], info->outputs[0].bytes / sizeof(float), count == 6 ? arguments[5] : NULL);

    for (i = 0; i < info->output_count; i++) free(outputs[i]);
    free((void *)inputs[0]), free(inputs), free(outputs), free(run.workspace), free(p.pixels);
    kiln_unmap_weights(network, &weights);
    return EXIT_SUCCESS;
}
