// As much of TensorFlow Lite Micro's interface as examples/tflm uses, so that a test compiles and runs the example without TFLM.
// Names are TFLM's; everything else is this project's.
#pragma once

#include <cstddef>
#include <cstdint>

enum TfLiteStatus { kTfLiteOk = 0, kTfLiteError = 1 };
enum TfLiteType { kTfLiteFloat32 = 1, kTfLiteInt32 = 2, kTfLiteInt8 = 9 };

struct TfLiteIntArray {
    int size;
    int data[8];
};

struct TfLiteTensor {
    union {
        int8_t *int8;
        int32_t *i32;
        void *data;
    } data;
    TfLiteIntArray *dims;
    TfLiteType type;
    size_t bytes;
};

struct TfLiteEvalTensor {
    union {
        void *data;
    } data;
};

struct TfLiteConvParams {
    int stride_width, stride_height, dilation_width_factor, dilation_height_factor;
};
struct TfLiteDepthwiseConvParams {
    int stride_width, stride_height, depth_multiplier, dilation_width_factor, dilation_height_factor;
};
struct TfLitePaddingValues {
    int width, height, width_offset, height_offset;
};

struct TfLiteNode {
    void *user_data;
    void *builtin_data;
};

struct TfLiteContext {
    void *(*AllocatePersistentBuffer)(TfLiteContext *, size_t bytes);
    TfLiteStatus (*RequestScratchBufferInArena)(TfLiteContext *, size_t bytes, int *index);
    void *(*GetScratchBuffer)(TfLiteContext *, int index);
};

struct TFLMRegistration {
    void *(*init)(TfLiteContext *, const char *buffer, size_t length);
    TfLiteStatus (*prepare)(TfLiteContext *, TfLiteNode *);
    TfLiteStatus (*invoke)(TfLiteContext *, TfLiteNode *);
};

namespace tflite {

struct OpDataConv {
    TfLitePaddingValues padding;
    int32_t input_zero_point, filter_zero_point, output_zero_point;
    int32_t *per_channel_output_multiplier, *per_channel_output_shift;
    int32_t output_activation_min, output_activation_max;
};

class MicroContext {
public:
    TfLiteTensor *AllocateTempInputTensor(const TfLiteNode *, int index);
    TfLiteTensor *AllocateTempOutputTensor(const TfLiteNode *, int index);
    void DeallocateTempTfLiteTensor(TfLiteTensor *);
    uint8_t *AllocateTempBuffer(size_t size, size_t alignment);
    void DeallocateTempBuffer(uint8_t *);
};
MicroContext *GetMicroContext(TfLiteContext *);

TFLMRegistration Register_CONV_2D();
TFLMRegistration Register_DEPTHWISE_CONV_2D();

namespace micro {

TFLMRegistration RegisterOp(void *(*init)(TfLiteContext *, const char *, size_t),
                            TfLiteStatus (*prepare)(TfLiteContext *, TfLiteNode *),
                            TfLiteStatus (*invoke)(TfLiteContext *, TfLiteNode *));
const TfLiteEvalTensor *GetEvalInput(TfLiteContext *, const TfLiteNode *, int index);
TfLiteEvalTensor *GetEvalOutput(TfLiteContext *, const TfLiteNode *, int index);
template<typename T>
T *GetTensorData(TfLiteEvalTensor *tensor) {
    return static_cast<T *>(tensor->data.data);
}
template<typename T>
const T *GetTensorData(const TfLiteEvalTensor *tensor) {
    return static_cast<const T *>(tensor->data.data);
}

}  // namespace micro
}  // namespace tflite
