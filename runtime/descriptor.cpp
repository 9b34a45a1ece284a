#include "runtime/descriptor.h"

#include <string.h>

#include "runtime/quantized_values.h"

namespace kiln {
namespace {

bool is_in(int32_t value, int32_t first, int32_t last) { return value >= first && value <= last; }

// Of those with an operand, the ones that have one of the input's channels.
bool is_prologue_step(int32_t kind) {
    switch (kind) {
        case KILN_EPILOGUE_ADD:
        case KILN_EPILOGUE_PRELU:
        case KILN_EPILOGUE_REQUANTIZE_LITERT:
        case KILN_EPILOGUE_REQUANTIZE_ONNX:
            return false;
        default:
            return is_in(kind, KILN_EPILOGUE_BIAS, KILN_EPILOGUE_SCALE);
    }
}

bool is_dtype(int32_t value) { return is_in(value, KILN_F32, KILN_I32) || value == KILN_U8; }

const char *check(const kiln_descriptor &d) {
    if (!is_in(d.operation, KILN_CONV, KILN_NEST)) return "operation is unknown";
    if (!is_in(d.spatial_rank, 1, KILN_MAX_SPATIAL_RANK)) return "spatial_rank is not 1 to 3";
    if (!is_dtype(d.dtype)) return "dtype is unknown";
    if (!is_dtype(d.output_dtype)) return "output_dtype is unknown";
    if (!is_in(d.input_layout, KILN_NHWC, KILN_NCHWC)) return "input_layout is unknown";
    if (!is_in(d.output_layout, KILN_NHWC, KILN_NCHWC)) return "output_layout is unknown";
    if (!is_in(d.kernel_layout, KILN_HWIO, KILN_HWOI)) return "kernel_layout is unknown";
    if (!is_in(d.special_values, KILN_FINITE, KILN_EXACT)) return "special_values is unknown";
    if (!is_in(d.epilogue_count, 0, KILN_MAX_EPILOGUE)) return "epilogue_count is not 0 to 8";
    for (int i = 0; i < d.epilogue_count; i++) {
        if (!is_in(d.epilogue[i].kind, KILN_EPILOGUE_BIAS, KILN_EPILOGUE_SCALE)) return "an epilogue step is unknown";
    }
    if (!is_in(d.prologue_count, 0, KILN_MAX_EPILOGUE)) return "prologue_count is not 0 to 8";
    for (int i = 0; i < d.prologue_count; i++) {
        if (!is_prologue_step(d.prologue[i].kind)) return "a step is none of a prologue";
    }
    return nullptr;
}

// Equal workloads are equal bytes, so there is no padding between fields: it would have no value here, and not compile.
struct Words {
    uint32_t words[sizeof(kiln_descriptor) / sizeof(uint32_t)];
};
static_assert(__builtin_bit_cast(Words, kiln_descriptor{}).words[0] == 0);

// An entry for each spatial dimension; those beyond spatial_rank do not count.
using PerDimension = int64_t (kiln_descriptor::*)[KILN_MAX_SPATIAL_RANK];
constexpr PerDimension lists[] = {
    &kiln_descriptor::spatial,      &kiln_descriptor::kernel,     &kiln_descriptor::strides,
    &kiln_descriptor::padding_lo,   &kiln_descriptor::padding_hi, &kiln_descriptor::lhs_dilation,
    &kiln_descriptor::rhs_dilation, &kiln_descriptor::block,      &kiln_descriptor::tile,
    &kiln_descriptor::output,       &kiln_descriptor::depthwise,
};

void normalize_steps(int count, kiln_epilogue_step *steps) {
    for (int i = 0; i < KILN_MAX_EPILOGUE; i++) {
        kiln_epilogue_step &step = steps[i];
        if (i >= count) step.kind = 0;
        const int numbers = epilogue_numbers(step.kind);
        step.lo = numbers > 0 ? step.lo + 0.0f : 0;  // -0 is 0, in bytes too
        step.hi = numbers > 1 ? step.hi + 0.0f : 0;
    }
}

// Only quantized convolutions have these fields.
void normalize_quantization(kiln_descriptor *n) {
    const bool is_quantized = n->operation == KILN_CONV && is_quantized_dtype(n->dtype);
    if (!is_quantized) n->kernel_dtype = n->kernel_zero_point = 0;
    if (is_quantized && n->kernel_dtype == 0) n->kernel_dtype = KILN_I8;
    n->kernel_zero_point = n->kernel_zero_point != 0;
}

void normalize_layout_name(char (&name)[KILN_MAX_LAYOUT_NAME]) {
    bool ended = false;
    for (char &c : name) {
        ended = ended || c == 0;
        if (ended) c = 0;
    }
}

// Only the Winograd transforms have these fields.
const char *normalize_transform(kiln_descriptor *n) {
    if (!is_in(n->operation, KILN_WINOGRAD_INPUT_TRANSFORM, KILN_WINOGRAD_OUTPUT_TRANSFORM)) {
        memset(n->tile, 0, sizeof n->tile);
        memset(n->tile_dimensions, 0, sizeof n->tile_dimensions);
        n->points = n->without_batch = 0;
    }
    n->without_batch = n->without_batch != 0;
    if (n->operation != KILN_WINOGRAD_OUTPUT_TRANSFORM) {
        memset(n->output, 0, sizeof n->output);
        return nullptr;
    }
    for (int i = 0; i < n->spatial_rank; i++) {
        if (n->output[i] == 0 && __builtin_mul_overflow(n->spatial[i], n->tile[i], &n->output[i])) {
            return "output is left out, but spatial x tile is too large";
        }
    }
    return nullptr;
}

}  // namespace

int epilogue_numbers(int32_t kind) {
    switch (kind) {
        case KILN_EPILOGUE_CLAMP:
        case KILN_EPILOGUE_HARD_SIGMOID:
        case KILN_EPILOGUE_AFFINE:
            return 2;
        case KILN_EPILOGUE_LEAKY_RELU:
            return 1;
        default:
            return 0;
    }
}

// A field counts unless something here clears it, so a new one needs nothing.
const char *normalize(const kiln_descriptor &d, kiln_descriptor *n) {
    if (const char *problem = check(d)) return problem;
    *n = d;
    n->struct_size = sizeof *n;
    n->reserved = n->reserved_too = 0;
    if (d.operation != KILN_NEST) n->nest = 0;
    normalize_quantization(n);
    for (const PerDimension list : lists) {
        for (int i = d.spatial_rank; i < KILN_MAX_SPATIAL_RANK; i++) (n->*list)[i] = 0;
    }
    if (d.input_layout != KILN_NCHWC) n->input_layout_block = 0;
    if (d.output_layout != KILN_NCHWC) n->output_layout_block = 0;
    normalize_steps(n->epilogue_count, n->epilogue);
    normalize_steps(n->prologue_count, n->prologue);
    normalize_layout_name(n->from_layout);
    normalize_layout_name(n->to_layout);
    return normalize_transform(n);
}

// Hashes the fields in which workloads of a network differ; the lookup compares all bytes afterwards. This is a
// multilinear hash (Carter and Wegman, "Universal classes of hash functions"). Its products do not wait for each other,
// so a lookup takes tens of nanoseconds. Precondition: spatial_rank is 1 to 3.
uint64_t descriptor_hash(const kiln_descriptor &n) {
    uint64_t sum = 0, factor = 0x9e3779b97f4a7c15;
    const auto add = [&](int64_t value) {
        sum += static_cast<uint64_t>(value) * factor;
        factor += 0x632be59bd9b4e018;  // stays odd
    };
    add(n.operation);
    add(n.batch);
    add(n.channels);
    add(n.output_channels);
    for (int i = 0; i < n.spatial_rank; i++) {
        add(n.spatial[i]);
        add(n.kernel[i]);
        add(n.strides[i]);
        add(n.padding_lo[i]);
        add(n.tile[i]);
        add(n.depthwise[i]);
    }
    add(n.feature_group_count);
    add(n.epilogue_count);
    add(n.prologue_count);
    add(static_cast<int64_t>(n.nest));
    sum = (sum ^ (sum >> 32)) * 0xff51afd7ed558ccd;
    return sum ^ (sum >> 32);
}

}  // namespace kiln
