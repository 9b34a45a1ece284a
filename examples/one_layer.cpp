// One layer of ResNet-50 in C++17: find its kernel by key, pack the weights, run it with a pool of two threads, and
// check some of its numbers against the definition. The layer is res2a_branch2b of workloads/resnet50.json.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include PACKAGE_HEADER
#include PACKAGE_CPP_HEADER

namespace {

constexpr int size = 56, channels = 64, taps = 3;
constexpr const char *key = "conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1";

std::vector<float> random_floats(size_t count) {
    static std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
    std::vector<float> values(count);
    for (float &value : values) value = uniform(random);
    return values;
}

// y[h][w][co] = sum over kh, kw, ci of x[h + kh - 1][w + kw - 1][ci] k[kh][kw][ci][co], where x is inside the image.
double definition(const std::vector<float> &x, const std::vector<float> &k, int h, int w, int co) {
    double sum = 0;
    for (int kh = 0; kh < taps; kh++) {
        for (int kw = 0; kw < taps; kw++) {
            const int row = h + kh - 1, column = w + kw - 1;
            if (row < 0 || row >= size || column < 0 || column >= size) continue;
            for (int ci = 0; ci < channels; ci++) {
                sum += double(x[(row * size + column) * channels + ci]) *
                       double(k[((kh * taps + kw) * channels + ci) * channels + co]);
            }
        }
    }
    return sum;
}

// The kernel; what is thrown says of which layer there is none.
kiln::Layer find_layer(const kiln::Pool &pool) {
    try {
        return kiln::Layer(PACKAGE(), key, pool.get());
    } catch (const kiln::Error &error) {
        throw std::runtime_error(std::string(key) + ": " + error.what());
    }
}

bool run() {
    const std::vector<float> x = random_floats(size * size * channels),
                             k = random_floats(taps * taps * channels * channels);
    std::vector<float> y(x.size());
    const kiln::Pool pool(PACKAGE(), 2);
    kiln::Layer layer = find_layer(pool);
    layer.pack(kiln::tensor(k.data(), {taps, taps, channels, channels}));
    kiln::Operands operands;
    operands.input = kiln::tensor(x.data(), {1, size, size, channels});
    operands.output = kiln::tensor(y.data(), {1, size, size, channels});
    layer.run(operands);

    double largest = 0;
    for (int i = 0; i < size * size * channels; i += 101) {
        const int co = i % channels, w = i / channels % size, h = i / channels / size;
        const double error = std::abs(double(y[i]) - definition(x, k, h, w, co));
        if (!(error <= largest)) largest = error;  // also when it is no number
    }
    std::printf("%s\n%s, largest error %.1e: %s\n", layer.info().key, layer.info().tuned ? "tuned" : "untuned", largest,
                largest < 1e-4 ? "ok" : "WRONG");
    return largest < 1e-4;
}

}  // namespace

int main() {
    try {
        return run() ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "one_layer: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
