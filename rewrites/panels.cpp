#include "rewrites/panels.h"

#include "rewrites/input_phases.h"

namespace kiln {
namespace {

// Rows of the stored input as they lie: one channel after the other, without x.
void read_rows(ConvLoops *s) {
    using namespace input_index;
    StoredActivation &stored = s->stored_input;
    stored.channels = stored.block = stored.channels * stored.space[0];
    stored.space[0] = 1;
    s->input_map[c].extent = stored.channels;
    s->input_map[c].outside = s->input_map[x].outside;
    s->input_map[x] = {};
}

}  // namespace

ConvLoops gathered(ConvLoops s) {
    if (s.scatters()) s.output_block = s.output_channels;
    return s;
}

ConvLoops joined_columns(ConvLoops s) {
    using namespace input_index;
    s.joined = s.input_channels;
    if (s.folds()) {
        const Form column = digit_of(index_form(c), s.joined), channel = digit_of(index_form(c), 1, s.joined);
        s.input_map = put_into(std::move(s.input_map), {channel, column, index_form(y), index_form(z), index_form(n)});
    } else {
        read_rows(&s);
    }
    s.input_channels *= s.kernel[0];
    s.kernel[0] = 1;
    return s;
}

ConvLoops panelled(ConvLoops s, int lanes) {
    const int64_t outputs = s.group_outputs();
    const bool divide = outputs % lanes == 0 || lanes % outputs == 0;
    const bool nhwc = s.output_block == s.output_channels;
    if (s.groups > 1 && s.input_channels > 1 && nhwc && !divide) {
        s.group_panels = true;
        s.output_block = outputs;
    }
    return s;
}

ConvLoops rows_of_one_image(ConvLoops s) {
    const StoredActivation &in = s.stored_input;  // blocks of pixels count as one of channels, whatever the layout
    const bool nhwc = in.block == in.channels && !s.has_groups_in_batch() && s.output_block == s.output_channels;
    const bool padded = s.pad_lo[1] != 0 || s.pad_hi[1] != 0;  // has rows besides the image's
    // Else images are phases, or rows that are stepped over or lie in one block, not neighbours in memory.
    const bool plain = s.input_step == std::array<int64_t, 3>{1, 1, 1} && s.stride[1] == 1 &&
                       s.input_map[input_index::y].form.is_index(input_index::y) &&
                       s.input_map[input_index::z].form.is_index(input_index::z);
    const bool is_row = s.kernel[1] == 1 && s.input[1] == 1 && s.input[2] == 1 && s.output[2] == 1;
    if (!nhwc || padded || !plain || !is_row) return s;
    s.input[1] = s.output[1] = s.batch;
    s.batch = 1;
    for (StoredActivation *stored : {&s.stored_input, &s.stored_result})
        stored->space[1] = s.input[1], stored->images = 1;
    s.input_map[input_index::y].extent = s.input[1];
    s.input_map[input_index::n].extent = 1;
    return s;
}

ConvLoops pixels_of_one_row(const ConvLoops &loops) {
    using namespace input_index;
    ConvLoops s = read_pixels(loops);
    for (int d = 0; d < 3; d++) {
        if (s.kernel[d] != 1 || s.stride[d] != 1 || s.hole[d] != 1 || s.reads_outside(d)) return loops;
    }
    const bool steps = s.input_step != std::array<int64_t, 3>{1, 1, 1};
    const bool has_vectors = s.input_block > 1 && s.output_block > 1;
    // Where tiles of four and eight pixels divide a row, or sums are short, finding a pixel takes more than it saves.
    const bool gains = s.output[0] % 4 != 0 && s.input_channels >= 128;
    if (!steps || !gains || !has_vectors || s.groups > 1 || s.folds() || s.scatters() || s.has_groups_in_batch())
        return loops;
    const int64_t row = s.output[0], plane = row * s.output[1], image = plane * s.output[2];
    const Form pixel = index_form(x);
    std::vector<Form> inner{index_form(c), digit_of(pixel, 1, row), digit_of(pixel, row, s.output[1]),
                            digit_of(pixel, plane, s.output[2]), index_form(n)};
    for (int d = 0; d < 3; d++) {  // where no stride has put them into the map: what padding cuts off
        inner[x + d].constant -= s.pad_lo[d];
        s.pad_lo[d] = s.pad_hi[d] = 0;
    }
    s.output = {image, 1, 1};
    // Images lie behind each other as rows do where a pixel has all of its channels.
    if (s.is_nhwc() && s.output_block == s.output_channels) {
        inner[n] = digit_of(pixel, image);
        s.output[0] *= s.batch;
        s.batch = s.stored_result.images = 1;
    }
    s.input = s.output;
    s.stored_result.space = s.output;
    s.input_map = put_into(std::move(s.input_map), inner);
    return s;
}

}  // namespace kiln
