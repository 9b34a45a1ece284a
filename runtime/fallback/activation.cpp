#include "runtime/fallback/activation.h"

#include <math.h>

namespace kiln {
namespace {

float sigmoid(float x) { return 1 / (1 + expf(-x)); }

// Comparisons are written so that NaN passes through.
float clamp(float x, float lo, float hi) { return x < lo ? lo : x > hi ? hi : x; }

template<typename Function>
void map(float *values, int count, Function function) {
    for (int i = 0; i < count; i++) values[i] = function(values[i]);
}

}  // namespace

void activate(const kiln_epilogue_step &step, float *values, int count) {
    const float lo = step.lo, hi = step.hi;
    switch (step.kind) {
        case KILN_EPILOGUE_RELU:
            return map(values, count, [](float x) { return x < 0 ? 0 : x; });
        case KILN_EPILOGUE_CLAMP:
            return map(values, count, [=](float x) { return clamp(x, lo, hi); });
        case KILN_EPILOGUE_LEAKY_RELU:
            return map(values, count, [=](float x) { return x < 0 ? lo * x : x; });
        case KILN_EPILOGUE_HARD_SIGMOID:
            return map(values, count, [=](float x) { return clamp(lo * x + hi, 0, 1); });
        case KILN_EPILOGUE_HARD_SWISH:
            return map(values, count, [](float x) { return x * clamp(x * 0.16666667f + 0.5f, 0, 1); });
        case KILN_EPILOGUE_SIGMOID:
            return map(values, count, sigmoid);
        case KILN_EPILOGUE_TANH:
            return map(values, count, [](float x) { return tanhf(x); });
        case KILN_EPILOGUE_SILU:
            return map(values, count, [](float x) { return x * sigmoid(x); });
        case KILN_EPILOGUE_GELU:
            return map(values, count, [](float x) { return 0.5f * (x * (1 + erff(x * 0.70710678f))); });
        case KILN_EPILOGUE_GELU_TANH:
            return map(values, count,
                       [](float x) { return 0.5f * (x * (1 + tanhf(0.79788456f * (x + 0.044715f * (x * x * x))))); });
        case KILN_EPILOGUE_AFFINE:
            return map(values, count, [=](float x) { return lo * x + hi; });
        default:
            return;
    }
}

}  // namespace kiln
