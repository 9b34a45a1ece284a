#include "runtime/fallback/convolution_map.h"

#include "runtime/fallback/element_runs.h"
#include "runtime/quantized_values.h"

namespace kiln {
namespace {

// `spatial`: extents of the last `rank` dimensions.
Activation activation(const int64_t *spatial, int rank, int64_t channels, int32_t layout, int32_t block) {
    Activation form;
    int64_t pixels = 1;
    for (int d = 0; d < map_rank; d++) {
        form.extents[d] = d < map_rank - rank ? 1 : spatial[d - (map_rank - rank)];
    }
    for (const int64_t extent : form.extents) pixels = extent == 0 ? 0 : pixels;
    for (int64_t &extent : form.extents) extent = pixels == 0 ? 0 : extent;  // an empty tensor has no places
    for (const int64_t extent : form.extents) pixels *= extent;
    const bool blocks = layout == KILN_NCHWC;
    form.channels = channels;
    form.block = blocks ? block : channels;
    form.stored_channels = (channels + form.block - 1) / form.block * form.block;
    form.channel_stride = layout == KILN_NCHW ? pixels : 1;
    form.block_stride = form.block * pixels;
    form.batch_stride = form.stored_channels * pixels;
    int64_t stride = layout == KILN_NCHW ? 1 : form.block;
    for (int d = map_rank - 1; d >= 0; d--) {
        form.strides[d] = stride;
        stride *= form.extents[d];
    }
    return form;
}

Weights weights_of(const kiln_descriptor &d, const ConvolutionExtents &e) {
    Weights form;
    for (int i = 0; i < map_rank; i++) {
        const int from = i - (map_rank - d.spatial_rank);
        form.extents[i] = from < 0 ? 1 : d.kernel[from];
    }
    const bool inputs_last = d.kernel_layout == KILN_HWOI;
    form.tap_stride = e.group_inputs * d.output_channels;
    form.input_stride = inputs_last ? 1 : d.output_channels;
    form.output_stride = inputs_last ? e.group_inputs : 1;
    return form;
}

int64_t greatest_common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

void set_steps(const kiln_descriptor &d, ConvolutionMap *map) {
    for (int i = 0; i < map_rank; i++) {
        const int from = i - (map_rank - d.spatial_rank);
        const int64_t stride = from < 0 ? 1 : d.strides[from], lo = from < 0 ? 0 : d.padding_lo[from];
        const int64_t lhs = from < 0 ? 1 : d.lhs_dilation[from], rhs = from < 0 ? 1 : d.rhs_dilation[from];
        map->place_step[i] = map->walks_input ? lhs : stride;
        map->tap_step[i] = map->walks_input ? -rhs : rhs;
        map->origin[i] = map->walks_input ? lo : -lo;
        map->hole[i] = map->walks_input ? stride : lhs;
    }
    const int last = map_rank - 1;
    map->phases = map->hole[last] / greatest_common_divisor(map->place_step[last], map->hole[last]);
}

// The place at position `index` of a row of `extent` places: those of the first phase come first, and so on.
int64_t place_in_row(int64_t index, int64_t extent, int64_t phases) {
    const int64_t least = extent / phases, longer = extent % phases;  // this many phases have one more place
    if (index < longer * (least + 1)) return index / (least + 1) + index % (least + 1) * phases;
    index -= longer * (least + 1);
    return longer + index / least + index % least * phases;
}

}  // namespace

void load_channels(const Activation &form, const void *data, int64_t offset, int64_t first, int64_t count, float *to,
                   int64_t to_step) {
    while (count > 0) {
        const int64_t block = first / form.block, inside = first % form.block;
        const int64_t here = count < form.block - inside ? count : form.block - inside;
        const int64_t at = offset + block * form.block_stride + inside * form.channel_stride;
        load_elements(data, {form.dtype, at, form.channel_stride, here, form.zero_point}, to, to_step);
        first += here, count -= here, to += here * to_step;
    }
}

void store_channels(const Activation &form, const float *from, int64_t offset, int64_t first, int64_t count,
                    void *data) {
    while (count > 0) {
        const int64_t block = first / form.block, inside = first % form.block;
        const int64_t here = count < form.block - inside ? count : form.block - inside;
        const int64_t at = offset + block * form.block_stride + inside * form.channel_stride;
        store_elements(from, {form.dtype, at, form.channel_stride, here}, data);
        first += here, count -= here, from += here;
    }
}

void store_channels(const Activation &form, const int32_t *from, int64_t offset, int64_t first, int64_t count,
                    void *data) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t channel = first + i;
        const int64_t at =
            offset + channel / form.block * form.block_stride + channel % form.block * form.channel_stride;
        if (form.dtype == KILN_I32) {
            static_cast<int32_t *>(data)[at] = from[i];
        } else {
            static_cast<uint8_t *>(data)[at] = static_cast<uint8_t>(from[i]);
        }
    }
}

int64_t ConvolutionMap::place_count() const {
    const Activation &form = walked();
    return extents.batch * form.extents[0] * form.extents[1] * form.extents[2];
}

void ConvolutionMap::list_places(int64_t group, int64_t first, int count, WalkedPlace *places) const {
    const Activation &form = walked(), &other = met();
    const int64_t(&extent)[map_rank] = form.extents;
    int64_t row = first / extent[2], index = first % extent[2];
    for (int i = 0; i < count; i++, index++) {
        if (index == extent[2]) row++, index = 0;
        const int64_t image = row / (extent[0] * extent[1]);
        const int64_t at[map_rank] = {row / extent[1] % extent[0], row % extent[1],
                                      phases == 1 ? index : place_in_row(index, extent[2], phases)};
        WalkedPlace &place = places[i];
        place.pixel = (image + group * form.group_images) * form.batch_stride;
        place.image = (image + group * other.group_images) * other.batch_stride;
        for (int d = 0; d < map_rank; d++) {
            place.pixel += at[d] * form.strides[d];
            place.at[d] = at[d] * place_step[d] + origin[d];
        }
    }
}

int ConvolutionMap::list_taps(int64_t channels, int64_t first, int count, TapRun *runs) const {
    int64_t tap = first / channels, channel = first % channels;
    int listed = 0;
    for (int done = 0; done < count; listed++, tap++, channel = 0) {
        const int64_t left = channels - channel;
        const int here = left < count - done ? static_cast<int>(left) : count - done;
        const int64_t last = weights.extents[2], middle = weights.extents[1];
        runs[listed] = {
            {tap / (middle * last) * tap_step[0], tap / last % middle * tap_step[1], tap % last * tap_step[2]},
            tap * weights.tap_stride,
            channel,
            done,
            here};
        done += here;
    }
    return listed;
}

ConvolutionMap convolution_map(const kiln_descriptor &d) {
    ConvolutionMap map;
    convolution_extents(d, &map.extents);
    const ConvolutionExtents &e = map.extents;
    map.walks_input = d.operation == KILN_CONV_BACKPROP_INPUT;
    map.input = activation(d.spatial, d.spatial_rank, d.channels, d.input_layout, d.input_layout_block);
    map.output = activation(e.output, d.spatial_rank, d.output_channels, d.output_layout, d.output_layout_block);
    map.weights = weights_of(d, e);
    map.input.group_images = d.batch_group_count > 1 ? e.batch : 0;
    map.input.group_channels = d.feature_group_count > 1 ? e.group_inputs : 0;
    map.output.group_channels = e.group_outputs;
    map.input.dtype = map.output.dtype = map.weights.dtype = d.dtype;
    if (is_quantized(d)) map.weights.dtype = d.kernel_dtype;
    int32_t &result = d.operation == KILN_CONV                  ? map.output.dtype
                      : d.operation == KILN_CONV_BACKPROP_INPUT ? map.input.dtype
                                                                : map.weights.dtype;
    result = d.output_dtype;
    set_steps(d, &map);
    return map;
}

}  // namespace kiln
