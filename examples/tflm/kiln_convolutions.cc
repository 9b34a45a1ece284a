#include "kiln_convolutions.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/micro/kernels/conv.h"
#include "tensorflow/lite/micro/kernels/depthwise_conv.h"
#include "tensorflow/lite/micro/kernels/kernel_util.h"
#include "tensorflow/lite/micro/micro_context.h"

#define KILN_TEXT(text) #text
#define KILN_HEADER(package) KILN_TEXT(package.h)
#include KILN_HEADER(KILN_PACKAGE)

#define KILN_JOINED(a, b) a##b
#define KILN_NAMED(a, b) KILN_JOINED(a, b)

namespace kiln_tflm {
namespace {

using Kernel = KILN_NAMED(KILN_PACKAGE, _kernel);
using Constants = KILN_NAMED(KILN_PACKAGE, _constants);

constexpr int input_tensor = 0, weights_tensor = 1, bias_tensor = 2, output_tensor = 0;

// What a node keeps: the reference's data, and the layer's kernel where the package has one.
struct Node {
    void *reference;
    const Kernel *kernel;
    int32_t *packed;
    int workspace;  // of scratch buffers
};

struct Window {
    int stride_height, stride_width, dilation_height, dilation_width;
};

// The tensors of a node while it is prepared.
struct Tensors {
    Tensors(TfLiteContext *context, TfLiteNode *node)
        : micro(tflite::GetMicroContext(context)),
          input(micro->AllocateTempInputTensor(node, input_tensor)),
          weights(micro->AllocateTempInputTensor(node, weights_tensor)),
          bias(micro->AllocateTempInputTensor(node, bias_tensor)),
          output(micro->AllocateTempOutputTensor(node, output_tensor)) {}
    Tensors(const Tensors &) = delete;
    ~Tensors() {
        for (TfLiteTensor *tensor : {output, bias, weights, input}) {
            if (tensor) micro->DeallocateTempTfLiteTensor(tensor);
        }
    }

    tflite::MicroContext *const micro;
    TfLiteTensor *const input, *const weights, *const bias, *const output;
};

int extent(const TfLiteTensor *tensor, int dimension) { return tensor->dims->data[dimension]; }

bool is_quantized(const Tensors &t) {
    return t.input && t.weights && t.bias && t.output && t.input->type == kTfLiteInt8 &&
           t.weights->type == kTfLiteInt8 && t.bias->type == kTfLiteInt32 && t.output->type == kTfLiteInt8 &&
           t.input->dims->size == 4 && t.weights->dims->size == 4;
}

// The layer in kiln's words, as the package's table has it. Fields that have their defaults are left out.
class Key {
public:
    Key(const Tensors &t, const TfLitePaddingValues &padding, const Window &window, bool is_depthwise) {
        const int channels = extent(t.input, 3), outputs = extent(t.weights, is_depthwise ? 3 : 0);
        const int of_filter = is_depthwise ? 1 : extent(t.weights, 3);
        add("conv2d/input:%dx%dx%dx%d", extent(t.input, 0), extent(t.input, 1), extent(t.input, 2), channels);
        add("/kernel:%dx%dx%dx%d", extent(t.weights, 1), extent(t.weights, 2), of_filter, outputs);
        if (window.stride_height != 1 || window.stride_width != 1) {
            add("/strides:%dx%d", window.stride_height, window.stride_width);
        }
        const int bottom = padding.height + padding.height_offset, right = padding.width + padding.width_offset;
        if (padding.height || bottom || padding.width || right) {
            add("/padding:%d,%dx%d,%d", padding.height, bottom, padding.width, right);
        }
        if (window.dilation_height != 1 || window.dilation_width != 1) {
            add("/rhs_dilation:%dx%d", window.dilation_height, window.dilation_width);
        }
        if (channels != of_filter) add("/feature_group_count:%d", channels / of_filter);
        add("/dtype:i8/epilogue:bias,requantize_litert");
    }
    const char *text() const { return text_; }

private:
    template<typename... Numbers>
    void add(const char *format, Numbers... numbers) {
        used_ += std::snprintf(text_ + used_, sizeof text_ - used_, format, numbers...);
    }

    char text_[256] = "";
    int used_ = 0;
};

const Kernel *kernel_of(const char *key) {
    for (const Kernel &kernel : KILN_NAMED(KILN_PACKAGE, _kernels)) {
        if (std::strcmp(kernel.key, key) == 0) return &kernel;
    }
    return nullptr;
}

// TFLM has an output channel's numbers side by side, kiln those of all channels at one place of the window. Depthwise weights
// are alike.
void reorder(const TfLiteTensor *weights, int8_t *ordered) {
    const int outputs = extent(weights, 0), rest = extent(weights, 1) * extent(weights, 2) * extent(weights, 3);
    for (int i = 0; i < rest; i++) {
        for (int c = 0; c < outputs; c++) ordered[i * outputs + c] = weights->data.int8[c * rest + i];
    }
}

TfLiteStatus pack(TfLiteContext *context, const Tensors &t, const tflite::OpDataConv &data, bool is_depthwise,
                  Node *node) {
    const Kernel &kernel = *node->kernel;
    node->packed = static_cast<int32_t *>(context->AllocatePersistentBuffer(context, 4 * kernel.packed_words));
    uint8_t *workspace = t.micro->AllocateTempBuffer(kernel.workspace_bytes + 8, 8);
    uint8_t *ordered = is_depthwise ? nullptr : t.micro->AllocateTempBuffer(t.weights->bytes, 8);
    if (!node->packed || !workspace || (!is_depthwise && !ordered)) return kTfLiteError;
    if (ordered) reorder(t.weights, reinterpret_cast<int8_t *>(ordered));

    Constants constants{};
    constants.kernel = ordered ? ordered : static_cast<const void *>(t.weights->data.int8);
    constants.bias = t.bias->data.i32;
    constants.multiplier = data.per_channel_output_multiplier;
    constants.shift = data.per_channel_output_shift;
    constants.input_zero_point = data.input_zero_point;
    constants.output_zero_point = data.output_zero_point;
    constants.result_bounds[0] = data.output_activation_min;
    constants.result_bounds[1] = data.output_activation_max;
    kernel.pack(&constants, node->packed, workspace);

    if (ordered) t.micro->DeallocateTempBuffer(ordered);
    t.micro->DeallocateTempBuffer(workspace);
    node->workspace = -1;
    if (kernel.workspace_bytes == 0) return kTfLiteOk;
    return context->RequestScratchBufferInArena(context, kernel.workspace_bytes, &node->workspace);
}

// What both operators do around a reference, which also checks the node and computes its multipliers.
template<typename Params, bool is_depthwise>
struct Convolution {
    static TFLMRegistration reference() {
        return is_depthwise ? tflite::Register_DEPTHWISE_CONV_2D() : tflite::Register_CONV_2D();
    }

    static void *init(TfLiteContext *context, const char *buffer, size_t length) {
        void *memory = context->AllocatePersistentBuffer(context, sizeof(Node));
        if (!memory) return nullptr;
        Node *node = static_cast<Node *>(memory);
        *node = Node{reference().init(context, buffer, length), nullptr, nullptr, -1};
        return node;
    }

    static TfLiteStatus prepare(TfLiteContext *context, TfLiteNode *tflite_node) {
        Node *node = static_cast<Node *>(tflite_node->user_data);
        tflite_node->user_data = node->reference;
        const TfLiteStatus status = reference().prepare(context, tflite_node);
        tflite_node->user_data = node;
        if (status != kTfLiteOk) return status;
        const Tensors tensors(context, tflite_node);
        if (!is_quantized(tensors)) return kTfLiteOk;
        const auto &params = *static_cast<const Params *>(tflite_node->builtin_data);
        const auto &data = *static_cast<const tflite::OpDataConv *>(node->reference);
        if (data.filter_zero_point != 0) return kTfLiteOk;
        const Window window{params.stride_height, params.stride_width, params.dilation_height_factor,
                            params.dilation_width_factor};
        node->kernel = kernel_of(Key(tensors, data.padding, window, is_depthwise).text());
        return node->kernel ? pack(context, tensors, data, is_depthwise, node) : kTfLiteOk;
    }

    static TfLiteStatus invoke(TfLiteContext *context, TfLiteNode *tflite_node) {
        Node *node = static_cast<Node *>(tflite_node->user_data);
        if (!node->kernel) {
            tflite_node->user_data = node->reference;
            const TfLiteStatus status = reference().invoke(context, tflite_node);
            tflite_node->user_data = node;
            return status;
        }
        const TfLiteEvalTensor *input = tflite::micro::GetEvalInput(context, tflite_node, input_tensor);
        TfLiteEvalTensor *output = tflite::micro::GetEvalOutput(context, tflite_node, output_tensor);
        void *workspace = node->workspace < 0 ? nullptr : context->GetScratchBuffer(context, node->workspace);
        node->kernel->run(tflite::micro::GetTensorData<int8_t>(input), node->packed,
                          tflite::micro::GetTensorData<int8_t>(output), workspace);
        return kTfLiteOk;
    }

    static TFLMRegistration registration() { return tflite::micro::RegisterOp(init, prepare, invoke); }
};

}  // namespace

TFLMRegistration Register_CONV_2D() { return Convolution<TfLiteConvParams, false>::registration(); }

TFLMRegistration Register_DEPTHWISE_CONV_2D() { return Convolution<TfLiteDepthwiseConvParams, true>::registration(); }

}  // namespace kiln_tflm
