// Runs layers through examples/tflm beside a reference of plain loops, and prints for each who computed it and whether the
// results are the same. The interpreter here has one node at a time.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "kiln_convolutions.h"
#include "tflm_stub.h"

namespace {

struct Layer {
    const char *name;
    bool is_depthwise;
    int height, width, channels, rows, columns, outputs, stride, dilation;
    TfLitePaddingValues padding;
};

struct Running {
    const Layer *layer;
    std::vector<int8_t> input, weights, output;
    std::vector<int32_t> bias, multiplier, shift;
    TfLiteIntArray input_dims, weights_dims;
    TfLiteTensor tensors[4];
    TfLiteEvalTensor evaluated[4];
    std::vector<std::unique_ptr<uint8_t[]>> memory;
    int open = 0;  // temporary tensors and buffers
    int by_reference = 0;
};
Running *now = nullptr;

int out_height(const Layer &l) {
    return (l.height + 2 * l.padding.height + l.padding.height_offset - l.dilation * (l.rows - 1) - 1) / l.stride + 1;
}
int out_width(const Layer &l) {
    return (l.width + 2 * l.padding.width + l.padding.width_offset - l.dilation * (l.columns - 1) - 1) / l.stride + 1;
}

void *allocated(size_t bytes) {
    now->memory.push_back(std::make_unique<uint8_t[]>(bytes + 8));
    return now->memory.back().get();
}

void *reference_init(TfLiteContext *, const char *, size_t) { return allocated(sizeof(tflite::OpDataConv)); }

TfLiteStatus reference_prepare(TfLiteContext *, TfLiteNode *node) {
    auto &data = *static_cast<tflite::OpDataConv *>(node->user_data);
    data = {now->layer->padding, -7, 0, -3, now->multiplier.data(), now->shift.data(), -100, 120};
    return kTfLiteOk;
}

int32_t requantized(int32_t sum, int32_t multiplier, int32_t shift) {
    const int64_t product = int64_t(sum) * multiplier;
    const int32_t nudge = product >= 0 ? 1 << 30 : 1 - (1 << 30);
    const int32_t high = static_cast<int32_t>((product + nudge) / (int64_t(1) << 31)), right = -shift;
    const int32_t mask = (1 << right) - 1;
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0));
}

TfLiteStatus reference_invoke(TfLiteContext *, TfLiteNode *node) {
    const Layer &l = *now->layer;
    const auto &data = *static_cast<const tflite::OpDataConv *>(node->user_data);
    now->by_reference++;
    size_t at = 0;
    for (int y = 0; y < out_height(l); y++)
        for (int x = 0; x < out_width(l); x++)
            for (int o = 0; o < l.outputs; o++) {
                int32_t sum = now->bias[o];
                const int first = l.is_depthwise ? o / (l.outputs / l.channels) : 0;
                const int channels = l.is_depthwise ? 1 : l.channels;
                for (int r = 0; r < l.rows; r++)
                    for (int s = 0; s < l.columns; s++)
                        for (int c = 0; c < channels; c++) {
                            const int in_y = y * l.stride + r * l.dilation - l.padding.height;
                            const int in_x = x * l.stride + s * l.dilation - l.padding.width;
                            if (in_y < 0 || in_y >= l.height || in_x < 0 || in_x >= l.width) continue;
                            const int tap = r * l.columns + s;
                            const int weight = l.is_depthwise ? tap * l.outputs + o
                                                              : (o * l.rows * l.columns + tap) * channels + c;
                            sum += now->weights[weight] *
                                   (now->input[(in_y * l.width + in_x) * l.channels + first + c] - data.input_zero_point);
                        }
                int32_t value = requantized(sum, now->multiplier[o], now->shift[o]) + data.output_zero_point;
                value = value < data.output_activation_min ? data.output_activation_min : value;
                now->output[at++] =
                    static_cast<int8_t>(value > data.output_activation_max ? data.output_activation_max : value);
            }
    return kTfLiteOk;
}

void draw(Running &running) {
    const Layer &l = *running.layer;
    running.input.resize(l.height * l.width * l.channels);
    running.weights.resize(l.rows * l.columns * l.outputs * (l.is_depthwise ? 1 : l.channels));
    running.output.resize(out_height(l) * out_width(l) * l.outputs);
    uint32_t state = 1;
    const auto drawn = [&] { return static_cast<int32_t>((state = state * 1664525 + 1013904223) >> 16); };
    for (int8_t &v : running.input) v = static_cast<int8_t>(drawn());
    for (int8_t &v : running.weights) v = static_cast<int8_t>(drawn());
    for (int o = 0; o < l.outputs; o++) {
        running.bias.push_back(drawn() % 4000 - 2000);
        running.multiplier.push_back((1 << 30) + drawn() * 16000);
        running.shift.push_back(-(drawn() % 4) - 6);
    }
    running.input_dims = {4, {1, l.height, l.width, l.channels}};
    running.weights_dims = {4, {l.is_depthwise ? 1 : l.outputs, l.rows, l.columns, l.is_depthwise ? l.outputs : l.channels}};
    running.tensors[0] = {{running.input.data()}, &running.input_dims, kTfLiteInt8, running.input.size()};
    running.tensors[1] = {{running.weights.data()}, &running.weights_dims, kTfLiteInt8, running.weights.size()};
    running.tensors[2].data.i32 = running.bias.data(), running.tensors[2].type = kTfLiteInt32;
    running.tensors[3] = {{running.output.data()}, nullptr, kTfLiteInt8, running.output.size()};
    running.evaluated[0].data.data = running.input.data(), running.evaluated[3].data.data = running.output.data();
}

std::vector<int8_t> result_of(const TFLMRegistration &registration, const Layer &layer, bool *by_reference) {
    Running running{};
    running.layer = &layer;
    now = &running;
    draw(running);
    TfLiteContext context{[](TfLiteContext *, size_t bytes) { return allocated(bytes); },
                          [](TfLiteContext *, size_t bytes, int *index) {
                              *index = static_cast<int>(now->memory.size());
                              return allocated(bytes) ? kTfLiteOk : kTfLiteError;
                          },
                          [](TfLiteContext *, int index) -> void * { return now->memory[index].get(); }};
    TfLiteConvParams conv{layer.stride, layer.stride, layer.dilation, layer.dilation};
    TfLiteDepthwiseConvParams depthwise{layer.stride, layer.stride, 1, layer.dilation, layer.dilation};
    TfLiteNode node{registration.init(&context, nullptr, 0), &conv};
    if (layer.is_depthwise) node.builtin_data = &depthwise;
    void *const data = node.user_data;
    if (registration.prepare(&context, &node) != kTfLiteOk || registration.invoke(&context, &node) != kTfLiteOk ||
        running.open != 0 || node.user_data != data) {
        std::printf("%s: the node was not left as it should be\n", layer.name);
        std::exit(1);
    }
    *by_reference = running.by_reference > 0;
    return running.output;
}

}  // namespace

namespace tflite {

TfLiteTensor *MicroContext::AllocateTempInputTensor(const TfLiteNode *, int index) {
    now->open++;
    return &now->tensors[index];
}
TfLiteTensor *MicroContext::AllocateTempOutputTensor(const TfLiteNode *, int) {
    now->open++;
    return &now->tensors[3];
}
void MicroContext::DeallocateTempTfLiteTensor(TfLiteTensor *) { now->open--; }
uint8_t *MicroContext::AllocateTempBuffer(size_t size, size_t) {
    now->open++;
    return static_cast<uint8_t *>(allocated(size));
}
void MicroContext::DeallocateTempBuffer(uint8_t *) { now->open--; }
MicroContext *GetMicroContext(TfLiteContext *) {
    static MicroContext context;
    return &context;
}

TFLMRegistration Register_CONV_2D() { return {reference_init, reference_prepare, reference_invoke}; }
TFLMRegistration Register_DEPTHWISE_CONV_2D() { return Register_CONV_2D(); }

namespace micro {

TFLMRegistration RegisterOp(void *(*init)(TfLiteContext *, const char *, size_t),
                            TfLiteStatus (*prepare)(TfLiteContext *, TfLiteNode *),
                            TfLiteStatus (*invoke)(TfLiteContext *, TfLiteNode *)) {
    return {init, prepare, invoke};
}
const TfLiteEvalTensor *GetEvalInput(TfLiteContext *, const TfLiteNode *, int index) { return &now->evaluated[index]; }
TfLiteEvalTensor *GetEvalOutput(TfLiteContext *, const TfLiteNode *, int) { return &now->evaluated[3]; }

}  // namespace micro
}  // namespace tflite

int main() {
    const Layer layers[] = {
        {"depthwise", true, 12, 12, 8, 3, 3, 8, 1, 1, {1, 1, 0, 0}},
        {"depthwise_strides", true, 12, 12, 8, 3, 3, 16, 2, 1, {0, 0, 1, 1}},
        {"pointwise", false, 6, 6, 64, 1, 1, 32, 1, 1, {0, 0, 0, 0}},
        {"conv", false, 7, 7, 3, 3, 3, 5, 1, 2, {2, 2, 0, 0}},
        {"other_padding", true, 12, 12, 8, 3, 3, 8, 1, 1, {0, 0, 0, 0}},
        {"other_channels", false, 6, 6, 64, 1, 1, 31, 1, 1, {0, 0, 0, 0}},
    };
    for (const Layer &layer : layers) {
        bool by_reference = false, always = false;
        const TFLMRegistration shim =
            layer.is_depthwise ? kiln_tflm::Register_DEPTHWISE_CONV_2D() : kiln_tflm::Register_CONV_2D();
        const auto got = result_of(shim, layer, &by_reference);
        const bool same = got == result_of(tflite::Register_CONV_2D(), layer, &always);
        std::printf("%s %s %s\n", layer.name, by_reference ? "reference" : "kiln", same ? "same" : "DIFFERENT");
    }
}
