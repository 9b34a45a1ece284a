#include <string.h>

#include "runtime/kernel_table.h"

namespace kiln {
namespace {

bool is_in(int32_t value, int32_t first, int32_t last) { return value >= first && value <= last; }

const char *check(const kiln_descriptor &d) {
    if (d.struct_size != sizeof d) return "struct_size is not that of this package; use kiln_descriptor_init";
    if (!is_in(d.operation, KILN_CONV, KILN_WINOGRAD_OUTPUT_TRANSFORM)) return "operation is unknown";
    if (!is_in(d.spatial_rank, 1, KILN_MAX_SPATIAL_RANK)) return "spatial_rank is not 1 to 3";
    if (!is_in(d.dtype, KILN_F32, KILN_I8)) return "dtype is unknown";
    if (!is_in(d.output_dtype, KILN_F32, KILN_I8)) return "output_dtype is unknown";
    if (!is_in(d.input_layout, KILN_NHWC, KILN_NCHWC)) return "input_layout is unknown";
    if (!is_in(d.output_layout, KILN_NHWC, KILN_NCHWC)) return "output_layout is unknown";
    if (!is_in(d.kernel_layout, KILN_HWIO, KILN_HWOI)) return "kernel_layout is unknown";
    if (!is_in(d.special_values, KILN_FINITE, KILN_EXACT)) return "special_values is unknown";
    if (!is_in(d.epilogue_count, 0, KILN_MAX_EPILOGUE)) return "epilogue_count is not 0 to 8";
    for (int i = 0; i < d.epilogue_count; i++) {
        if (!is_in(d.epilogue[i].kind, KILN_EPILOGUE_BIAS, KILN_EPILOGUE_CLAMP)) return "an epilogue step is unknown";
    }
    return nullptr;
}

void copy_layout_name(const char (&from)[KILN_MAX_LAYOUT_NAME], char (&to)[KILN_MAX_LAYOUT_NAME]) {
    for (int i = 0; i < KILN_MAX_LAYOUT_NAME && from[i] != 0; i++) to[i] = from[i];
}

bool is_winograd_transform(const kiln_descriptor &d) {
    return is_in(d.operation, KILN_WINOGRAD_INPUT_TRANSFORM, KILN_WINOGRAD_OUTPUT_TRANSFORM);
}

const char *normalize_transform(const kiln_descriptor &d, kiln_descriptor *n) {
    for (int i = 0; i < d.spatial_rank; i++) {
        n->tile[i] = d.tile[i];
        if (d.operation != KILN_WINOGRAD_OUTPUT_TRANSFORM) continue;
        n->output[i] = d.output[i];
        if (d.output[i] == 0 && __builtin_mul_overflow(d.spatial[i], d.tile[i], &n->output[i])) {
            return "output is left out, but spatial x tile is too large";
        }
    }
    n->tile_dimensions[0] = d.tile_dimensions[0];
    n->tile_dimensions[1] = d.tile_dimensions[1];
    n->points = d.points;
    n->without_batch = d.without_batch != 0;
    return nullptr;
}

}  // namespace

const char *normalize(const kiln_descriptor &d, kiln_descriptor *n) {
    if (const char *problem = check(d)) return problem;
    memset(n, 0, sizeof *n);  // padding between fields too
    n->struct_size = sizeof *n;
    n->operation = d.operation;
    n->spatial_rank = d.spatial_rank;
    n->dtype = d.dtype;
    n->output_dtype = d.output_dtype;
    n->batch = d.batch;
    n->channels = d.channels;
    n->output_channels = d.output_channels;
    for (int i = 0; i < d.spatial_rank; i++) {
        n->spatial[i] = d.spatial[i];
        n->kernel[i] = d.kernel[i];
        n->strides[i] = d.strides[i];
        n->padding_lo[i] = d.padding_lo[i];
        n->padding_hi[i] = d.padding_hi[i];
        n->lhs_dilation[i] = d.lhs_dilation[i];
        n->rhs_dilation[i] = d.rhs_dilation[i];
        n->block[i] = d.block[i];
    }
    n->feature_group_count = d.feature_group_count;
    n->batch_group_count = d.batch_group_count;
    n->input_layout = d.input_layout;
    n->output_layout = d.output_layout;
    if (d.input_layout == KILN_NCHWC) n->input_layout_block = d.input_layout_block;
    if (d.output_layout == KILN_NCHWC) n->output_layout_block = d.output_layout_block;
    n->kernel_layout = d.kernel_layout;
    n->special_values = d.special_values;
    n->epilogue_count = d.epilogue_count;
    for (int i = 0; i < d.epilogue_count; i++) {
        n->epilogue[i].kind = d.epilogue[i].kind;
        if (d.epilogue[i].kind != KILN_EPILOGUE_CLAMP) continue;
        n->epilogue[i].lo = d.epilogue[i].lo + 0.0f;  // -0 is 0, in bytes too
        n->epilogue[i].hi = d.epilogue[i].hi + 0.0f;
    }
    copy_layout_name(d.from_layout, n->from_layout);
    copy_layout_name(d.to_layout, n->to_layout);
    return is_winograd_transform(d) ? normalize_transform(d, n) : nullptr;
}

// The fields in which workloads of a network differ; the lookup compares all bytes afterwards. A multilinear hash
// (Carter and Wegman, "Universal classes of hash functions"): its products do not wait for each other, so a lookup
// takes tens of nanoseconds. Precondition: spatial_rank is 1 to 3.
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
    }
    add(n.feature_group_count);
    add(n.epilogue_count);
    sum = (sum ^ (sum >> 32)) * 0xff51afd7ed558ccd;
    return sum ^ (sum >> 32);
}

}  // namespace kiln
