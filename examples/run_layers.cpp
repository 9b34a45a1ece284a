// Runs every convolution of a package on random numbers, checks the whole output against plain loops, and prints the
// time of a call.
//
//   run_layers [threads]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <random>
#include <vector>

#include PACKAGE_HEADER

namespace {

// Where the sum of an output element comes from: a forward convolution of f32, NHWC and HWIO, perhaps of what a depthwise one in
// front of it makes of the input.
struct Layer {
    explicit Layer(const kiln_descriptor &descriptor) : d(descriptor) {
        for (int i = 0; i < d.spatial_rank; i++) {
            const int64_t reach = (window(i) - 1) * d.rhs_dilation[i] + 1;
            output[i] = (d.spatial[i] + d.padding_lo[i] + d.padding_hi[i] - reach) / d.strides[i] + 1;
        }
        for (int i = d.spatial_rank; i < KILN_MAX_SPATIAL_RANK; i++) output[i] = 1;
    }

    bool supported() const {
        bool plain = d.operation == KILN_CONV && d.dtype == KILN_F32 && d.output_dtype == KILN_F32 &&
                     d.input_layout == KILN_NHWC && d.output_layout == KILN_NHWC && d.kernel_layout == KILN_HWIO &&
                     d.batch_group_count == 1;
        for (int i = 0; i < d.spatial_rank; i++) plain = plain && d.lhs_dilation[i] == 1;
        return plain;
    }

    // Extents of N, spatial..., C with missing spatial dimensions as 1.
    int64_t in(int i) const { return i < d.spatial_rank ? d.spatial[i] : 1; }
    bool is_separable() const { return d.depthwise[0] > 0; }
    int64_t window(int i) const { return i >= d.spatial_rank ? 1 : is_separable() ? d.depthwise[i] : d.kernel[i]; }
    int64_t taps() const { return window(0) * window(1) * window(2); }
    // Products of a sum: of the convolution, and of the depthwise one in front.
    int64_t terms() const { return is_separable() ? d.channels : group_channels() * taps(); }
    int64_t terms_in_front() const { return is_separable() ? taps() : 0; }
    int64_t pixels() const { return d.batch * output[0] * output[1] * output[2]; }
    int64_t group_channels() const { return d.channels / d.feature_group_count; }
    double flops() const {
        return 2.0 * double(pixels()) * double(d.output_channels * terms() + d.channels * terms_in_front());
    }

    const kiln_descriptor &d;
    int64_t output[KILN_MAX_SPATIAL_RANK];
};

struct Operands {
    std::vector<float> input, weights, bias, addend, slope, factor;
    std::vector<float> input_factor, input_bias;  // of a prologue
    std::vector<float> depthwise_kernel;
};

double clamped(double x, double lo, double hi) { return std::min(std::max(x, lo), hi); }

double after_step(const kiln_epilogue_step &step, double x) {
    switch (step.kind) {
        case KILN_EPILOGUE_RELU:
            return std::max(x, 0.0);
        case KILN_EPILOGUE_CLAMP:
            return clamped(x, step.lo, step.hi);
        case KILN_EPILOGUE_LEAKY_RELU:
            return x < 0 ? step.lo * x : x;
        case KILN_EPILOGUE_HARD_SIGMOID:
            return clamped(step.lo * x + step.hi, 0, 1);
        case KILN_EPILOGUE_HARD_SWISH:
            return x * clamped(x / 6 + 0.5, 0, 1);
        case KILN_EPILOGUE_SIGMOID:
            return 1 / (1 + std::exp(-x));
        case KILN_EPILOGUE_TANH:
            return std::tanh(x);
        case KILN_EPILOGUE_SILU:
            return x / (1 + std::exp(-x));
        case KILN_EPILOGUE_GELU:
            return x * (1 + std::erf(x * std::sqrt(0.5))) / 2;
        case KILN_EPILOGUE_GELU_TANH:
            return x * (1 + std::tanh(std::sqrt(2 / 3.141592653589793) * (x + 0.044715 * x * x * x))) / 2;
        case KILN_EPILOGUE_AFFINE:
            return step.lo * x + step.hi;
        default:
            return x;
    }
}

double after_prologue(const Layer &layer, const Operands &x, int64_t channel, double value) {
    for (int i = 0; i < layer.d.prologue_count; i++) {
        const kiln_epilogue_step &step = layer.d.prologue[i];
        if (step.kind == KILN_EPILOGUE_SCALE) value *= x.input_factor[channel];
        if (step.kind == KILN_EPILOGUE_BIAS) value += x.input_bias[channel];
        value = after_step(step, value);
    }
    return value;
}

// Calls visit(tap, pixel of the input) for each tap of the window that an output pixel reads inside of the image.
template<typename Visit>
void visit_taps(const Layer &layer, int64_t output_pixel, Visit visit) {
    const kiln_descriptor &d = layer.d;
    int64_t at[KILN_MAX_SPATIAL_RANK], rest = output_pixel;
    for (int i = KILN_MAX_SPATIAL_RANK; i-- > 0;) {
        at[i] = rest % layer.output[i];
        rest /= layer.output[i];
    }
    for (int64_t tap = 0; tap < layer.taps(); tap++) {
        int64_t position = rest, tap_rest = tap, tap_at[KILN_MAX_SPATIAL_RANK];
        for (int i = KILN_MAX_SPATIAL_RANK; i-- > 0;) {
            tap_at[i] = tap_rest % layer.window(i);
            tap_rest /= layer.window(i);
        }
        bool inside = true;
        for (int i = 0; i < KILN_MAX_SPATIAL_RANK; i++) {
            const bool exists = i < d.spatial_rank;
            const int64_t p = exists ? at[i] * d.strides[i] + tap_at[i] * d.rhs_dilation[i] - d.padding_lo[i] : 0;
            inside = inside && p >= 0 && p < layer.in(i);
            position = position * layer.in(i) + p;
        }
        if (inside) visit(tap, position);
    }
}

// The sums of all channels of one output pixel, in double. `magnitudes`: the same of absolute values.
struct PixelSums {
    explicit PixelSums(int64_t channels) : sums(size_t(channels)), magnitudes(size_t(channels)) {}

    // A value times the weights of all outputs of its group, `row` of them.
    void add(const Layer &layer, const Operands &x, int64_t row, int64_t group, double value) {
        const int64_t outputs = layer.d.output_channels, of_group = outputs / layer.d.feature_group_count;
        for (int64_t co = group * of_group; co < (group + 1) * of_group; co++) {
            const double product = value * double(x.weights[row * outputs + co]);
            sums[co] += product;
            magnitudes[co] += std::abs(product);
        }
    }

    std::vector<double> sums, magnitudes;
};

PixelSums convolved_pixel(const Layer &layer, const Operands &x, int64_t output_pixel) {
    const int64_t channels = layer.d.channels, of_group = layer.group_channels();
    PixelSums result(layer.d.output_channels);
    if (!layer.is_separable()) {
        visit_taps(layer, output_pixel, [&](int64_t tap, int64_t pixel) {
            for (int64_t c = 0; c < channels; c++) {
                const double value = after_prologue(layer, x, c, x.input[pixel * channels + c]);
                result.add(layer, x, tap * of_group + c % of_group, c / of_group, value);
            }
        });
        return result;
    }
    std::vector<double> between(size_t(channels), 0.0);
    visit_taps(layer, output_pixel, [&](int64_t tap, int64_t pixel) {
        for (int64_t c = 0; c < channels; c++)
            between[c] += double(x.depthwise_kernel[tap * channels + c]) * x.input[pixel * channels + c];
    });
    for (int64_t c = 0; c < channels; c++) result.add(layer, x, c, 0, after_prologue(layer, x, c, between[c]));
    return result;
}

double after_epilogue(const Layer &layer, const Operands &x, int64_t element, double value) {
    for (int i = 0; i < layer.d.epilogue_count; i++) {
        const kiln_epilogue_step &step = layer.d.epilogue[i];
        if (step.kind == KILN_EPILOGUE_BIAS) value += x.bias[element % layer.d.output_channels];
        if (step.kind == KILN_EPILOGUE_ADD) value += x.addend[element];
        if (step.kind == KILN_EPILOGUE_PRELU && value < 0) value *= x.slope[element % layer.d.output_channels];
        if (step.kind == KILN_EPILOGUE_SCALE) value *= x.factor[element % layer.d.output_channels];
        value = after_step(step, value);
    }
    return value;
}

// The largest error of the output relative to its sum of absolute products.
double largest_error(const Layer &layer, const Operands &x, const std::vector<float> &output) {
    const int64_t channels = layer.d.output_channels;
    double largest = 0;
    // All pixels of a small layer, a sample of a large one: the loops here take their time.
    const int64_t step = std::max<int64_t>(1, int64_t(layer.flops() / 200e6));
    for (int64_t pixel = 0; pixel < layer.pixels(); pixel += step) {
        const PixelSums pixel_sums = convolved_pixel(layer, x, pixel);
        for (int64_t co = 0; co < channels; co++) {
            const int64_t element = pixel * channels + co;
            const double error = std::abs(output[element] - after_epilogue(layer, x, element, pixel_sums.sums[co]));
            const double scale = pixel_sums.magnitudes[co] + 1;
            if (!(error <= largest * scale)) largest = error / scale;
        }
    }
    return largest;
}

std::vector<float> random_floats(int64_t count, std::mt19937 &random) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> values(count);
    for (float &value : values) value = uniform(random);
    return values;
}

struct CacheLines {
    explicit CacheLines(size_t bytes) : data(::operator new(bytes + 1, std::align_val_t(64))) {}
    CacheLines(const CacheLines &) = delete;
    ~CacheLines() { ::operator delete(data, std::align_val_t(64)); }
    void *data;
};

kiln_tensor tensor(const std::vector<float> &data, int64_t first, const int64_t *middle, int rank, int64_t last) {
    int64_t shape[KILN_MAX_RANK] = {first};
    std::copy(middle, middle + rank, shape + 1);
    shape[rank + 1] = last;
    return kiln_tensor_dense(data.data(), KILN_F32, rank + 2, shape);
}

bool succeeded(const char *call, kiln_status status) {
    if (status.code != KILN_OK) std::printf("  %s: %s\n", call, status.detail);
    return status.code == KILN_OK;
}

bool run_layer(const kiln_kernel *kernel, int threads, const kiln_parallel *pool) {
    const kiln_kernel_info &info = *kiln_info(kernel);
    const Layer layer(*info.workload);
    std::printf("%s  %s  (%s)\n", info.name, info.key, info.tuned ? "tuned" : "untuned");
    if (!layer.supported()) {
        std::printf("  this example has no loops for it\n");
        return true;
    }
    const kiln_descriptor &d = layer.d;
    std::mt19937 random(1);
    const int64_t outputs = layer.pixels() * d.output_channels;
    const Operands x = {random_floats(d.batch * layer.in(0) * layer.in(1) * layer.in(2) * d.channels, random),
                        random_floats(layer.terms() * d.output_channels, random),
                        random_floats(d.output_channels, random),
                        random_floats(outputs, random),
                        random_floats(d.output_channels, random),
                        random_floats(d.output_channels, random),
                        random_floats(d.channels, random),
                        random_floats(d.channels, random),
                        random_floats(layer.terms_in_front() * d.channels, random)};
    std::vector<float> output(outputs);
    const CacheLines packed(info.packed_bytes), prepared(info.prepared_bytes);
    const CacheLines workspace(kiln_workspace_bytes(kernel, threads));

    kiln_arguments arguments;
    kiln_arguments_init(&arguments);
    arguments.input = tensor(x.input, d.batch, d.spatial, d.spatial_rank, d.channels);
    int64_t weights[KILN_MAX_RANK] = {};
    std::copy(d.kernel, d.kernel + d.spatial_rank, weights);
    weights[d.spatial_rank] = layer.group_channels();
    weights[d.spatial_rank + 1] = d.output_channels;
    arguments.weights = kiln_tensor_dense(x.weights.data(), KILN_F32, d.spatial_rank + 2, weights);
    arguments.bias = kiln_tensor_dense(x.bias.data(), KILN_F32, 1, &d.output_channels);
    arguments.addend = tensor(x.addend, d.batch, layer.output, d.spatial_rank, d.output_channels);
    arguments.slope = kiln_tensor_dense(x.slope.data(), KILN_F32, 1, &d.output_channels);
    arguments.factor = kiln_tensor_dense(x.factor.data(), KILN_F32, 1, &d.output_channels);
    arguments.input_factor = kiln_tensor_dense(x.input_factor.data(), KILN_F32, 1, &d.channels);
    arguments.input_bias = kiln_tensor_dense(x.input_bias.data(), KILN_F32, 1, &d.channels);
    if (layer.is_separable()) {
        int64_t extents[KILN_MAX_RANK] = {};
        std::copy(d.depthwise, d.depthwise + d.spatial_rank, extents);
        extents[d.spatial_rank] = 1;
        extents[d.spatial_rank + 1] = d.channels;
        arguments.depthwise_kernel =
            kiln_tensor_dense(x.depthwise_kernel.data(), KILN_F32, d.spatial_rank + 2, extents);
    }
    arguments.output = tensor(output, d.batch, layer.output, d.spatial_rank, d.output_channels);
    arguments.packed = packed.data;
    arguments.packed_bytes = info.packed_bytes;
    arguments.prepared = prepared.data;
    arguments.prepared_bytes = info.prepared_bytes;
    arguments.workspace = workspace.data;
    arguments.workspace_bytes = kiln_workspace_bytes(kernel, threads);
    arguments.parallel = pool;
    if (!succeeded("kiln_pack", kiln_pack(kernel, &arguments))) return false;
    if (!succeeded("kiln_prepare", kiln_prepare(kernel, &arguments))) return false;

    std::vector<double> times;
    for (int i = 0; i < 20; i++) {
        const auto begin = std::chrono::steady_clock::now();
        if (!succeeded("kiln_run", kiln_run(kernel, &arguments))) return false;
        times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(times.begin(), times.end());
    const double error = largest_error(layer, x, output), seconds = times[times.size() / 2];
    const bool right = error < 1e-5;
    std::printf("  %.1f us, %.1f GFLOP/s, largest error %.1e: %s\n", seconds * 1e6, layer.flops() / seconds * 1e-9,
                error, right ? "ok" : "WRONG");
    return right;
}

}  // namespace

int main(int argc, char **argv) {
    const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
    const kiln_package *package = PACKAGE();
    kiln_parallel pool;
    if (!succeeded("kiln_pool_create", kiln_pool_create(package, threads, &pool))) return EXIT_FAILURE;
    int layers = 0, wrong = 0;
    for (size_t i = 0; i < kiln_kernel_count(package); i++) {
        // The kernel that this CPU would get; others of the same workload are for other CPUs.
        const kiln_kernel *kernel = nullptr;
        const char *key = kiln_info(kiln_kernel_at(package, i))->key;
        if (!succeeded(key, kiln_find_key(package, key, &kernel))) wrong++;
        if (kernel != kiln_kernel_at(package, i)) continue;
        layers++;
        wrong += !run_layer(kernel, threads, &pool);
    }
    kiln_pool_destroy(package, &pool);
    std::printf("%d layers, %d wrong\n", layers, wrong);
    return wrong == 0 && layers > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
