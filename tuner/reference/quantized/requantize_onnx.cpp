#include "tuner/reference/quantized/requantize_onnx.h"

#include <cmath>

namespace kiln {

double requantize_onnx(int32_t sum, float scale) {
    const float product = static_cast<float>(sum) * scale;
    return std::nearbyint(static_cast<double>(product));
}

}  // namespace kiln
