#include "workload/workload.h"

#include <algorithm>
#include <array>
#include <utility>

#include "text/excerpt.h"
#include "workload/number_text.h"
#include "workload/workload_checks.h"
#include "workload/workload_fields.h"

namespace kiln {
namespace {

// What the output transform writes where nothing else is asked for; empty where the fields make no sense.
std::vector<int64_t> whole_tiles(const Workload &w) {
    std::vector<int64_t> extents(2, 1);
    if (w.input.size() != 4 || w.tile.size() != 2) return {};
    for (int d = 0; d < 2; d++) {
        if (__builtin_mul_overflow(w.input[d + 1], w.tile[d], &extents[d])) return {};
    }
    return extents;
}

}  // namespace

Workload convolution(std::vector<int64_t> input, std::vector<int64_t> kernel) {
    Workload w;
    w.spatial_rank = static_cast<int>(input.size()) - 2;
    w.input = std::move(input);
    w.kernel = std::move(kernel);
    w.strides.assign(w.spatial_rank, 1);
    w.lhs_dilation = w.rhs_dilation = w.strides;
    w.padding.assign(w.spatial_rank, {});
    return w;
}

bool is_convolution(Operation op) {
    return op == Operation::conv || op == Operation::conv_backprop_input || op == Operation::conv_backprop_kernel;
}

bool is_integer(DType dtype) { return dtype == DType::i8 || dtype == DType::u8 || dtype == DType::i32; }

bool is_quantized(const Workload &w) { return w.op == Operation::conv && is_integer(w.dtype); }

bool is_winograd_transform(Operation op) {
    return op == Operation::winograd_input_transform || op == Operation::winograd_filter_transform ||
           op == Operation::winograd_output_transform;
}

bool is_nest(Operation op) { return op == Operation::nest; }

bool is_data_movement(Operation op) { return !is_convolution(op) && !is_winograd_transform(op) && !is_nest(op); }

bool has_field(Operation op, std::string_view field_name) {
    const auto fields = workload_fields();
    const auto found = std::ranges::find(fields, field_name, &WorkloadField::name);
    return found != fields.end() && found->is_used_by(op);
}

bool transforms_weights(const Workload &w) { return w.op == Operation::layout_transform && w.input.empty(); }

bool has_step(const std::vector<EpilogueStep> &steps, EpilogueStep::Kind kind) {
    return std::ranges::find(steps, kind, &EpilogueStep::kind) != steps.end();
}

std::vector<int64_t> output_shape(const Workload &w) {
    const std::vector<int64_t> windows = window_of(w);
    std::vector<int64_t> shape{w.input[0] / w.batch_group_count};
    for (int d = 0; d < w.spatial_rank; d++) {
        const int64_t padded = (w.input[d + 1] - 1) * w.lhs_dilation[d] + 1 + w.padding[d].lo + w.padding[d].hi;
        const int64_t window = (windows[d] - 1) * w.rhs_dilation[d] + 1;
        shape.push_back(padded < window ? 0 : (padded - window) / w.strides[d] + 1);
    }
    shape.push_back(w.kernel.back());
    return shape;
}

int64_t elements(const std::vector<int64_t> &shape) {
    int64_t product = 1;
    for (int64_t extent : shape) product *= extent;
    return product;
}

std::vector<int64_t> window_of(const Workload &w) {
    if (!w.depthwise.empty()) return w.depthwise;
    return {w.kernel.begin(), w.kernel.begin() + w.spatial_rank};
}

int64_t flop_count(const Workload &w) {
    if (!is_convolution(w.op)) return 0;
    const int64_t sums = elements(output_shape(w));
    const int64_t in_front = w.depthwise.empty() ? 0 : elements(w.depthwise) * w.input.back();
    return 2 * (sums * (elements(w.kernel) / w.kernel.back()) + sums / w.kernel.back() * in_front);
}

void fill_defaults(Workload *w) {
    if (w->spatial_rank < 1 || w->spatial_rank > 3 || is_nest(w->op)) return;  // validate() says so
    for (auto *values : {&w->strides, &w->lhs_dilation, &w->rhs_dilation}) {
        if (values->empty()) values->assign(w->spatial_rank, 1);
    }
    if (w->padding.empty()) w->padding.assign(w->spatial_rank, {});
    if (!is_winograd_transform(w->op)) return;
    if (w->tile_dimensions.empty()) w->tile_dimensions = {0, 1};
    if (w->op == Operation::winograd_output_transform && w->output == whole_tiles(*w)) w->output.clear();
}

int rank_of_shape(const Workload &w) {
    if (is_nest(w.op)) return 1;
    return static_cast<int>(transforms_weights(w) ? w.kernel.size() : w.input.size()) - 2;
}

Status validate(const Workload &w) {
    const bool is_nothing = w.op == Operation::layout_transform && w.input.empty() && w.kernel.empty();
    if (is_nothing) return check_data_movement(w);
    if (w.spatial_rank < 1 || w.spatial_rank > 3) {
        return bad_input(op_name(w) + " with " + std::to_string(w.spatial_rank) +
                         " spatial dimensions; 1, 2 and 3 are known");
    }
    for (const WorkloadField &field : workload_fields()) {
        if (!field.is_used_by(w.op) && !is_left_out(field, w)) {
            return bad_input(std::string(field.name) + " has no meaning for " + op_name(w) + "; leave it out");
        }
    }
    if (has_field(w.op, "input") && !transforms_weights(w)) {
        if (Status s = check_sizes("input", w.input, w.spatial_rank + 2, 1); !s) return s;
        if (Status s = check_tensor_size("input", w.input); !s) return s;
    }
    for (const auto &[field, layout] :
         {std::pair{"input_layout", w.input_layout}, {"output_layout", w.output_layout}}) {
        if (layout.kind == ActivationLayout::Kind::nchwc && (layout.block < 2 || layout.block > 1024)) {
            return bad_input(std::string(field) + ": blocks of " + std::to_string(layout.block) +
                             " channels; needs 2 to 1024");
        }
    }
    if (is_nest(w.op)) return check_nest(w);
    if (is_convolution(w.op)) return check_convolution(w);
    if (is_winograd_transform(w.op)) return check_winograd_transform(w);
    return check_data_movement(w);
}

std::string key(const Workload &w) {
    std::string text = op_name(w);
    for (const WorkloadField &field : workload_fields()) {
        if (is_left_out(field, w)) continue;
        text += '/';
        text += field.name;
        text += ':';
        text += key_text(field, w);
    }
    return text;
}

Result<Workload> parse_workload_key(std::string_view text) {
    const std::string where = "workload key `" + excerpt(text) + "`: ";
    const auto parts = split(text, '/');
    const auto operation = parse_operation(parts[0]);
    if (!operation) return bad_input(where + "unknown operation `" + excerpt(parts[0]) + "`");
    Workload w;
    w.op = operation->op;
    size_t next = 1;  // of the parts
    for (const WorkloadField &field : workload_fields()) {
        const bool is_there = next < parts.size() && parts[next].starts_with(std::string(field.name) + ":");
        if (!is_there) {
            leave_out(field, &w);
        } else if (!read_key_text(field, parts[next++].substr(field.name.size() + 1), &w)) {
            return bad_input(where + "bad value of field `" + std::string(field.name) + "`");
        }
    }
    if (next < parts.size()) {
        const std::string field_name(parts[next].substr(0, parts[next].find(':')));
        return bad_input(where + "field `" + excerpt(field_name) + "` is unknown, repeated or out of order");
    }
    w.spatial_rank = operation->spatial_rank ? operation->spatial_rank : rank_of_shape(w);
    if (w.spatial_rank < 1 || w.spatial_rank > 3) return bad_input(where + "1, 2 or 3 spatial dimensions are known");
    fill_defaults(&w);
    if (Status s = validate(w); !s) return bad_input(where + s.error().message);
    if (key(w) != text) return bad_input(where + "not canonical; the canonical key is `" + excerpt(key(w)) + "`");
    return w;
}

int size_of(DType dtype) {
    switch (dtype) {
        case DType::f32:
        case DType::i32:
            return 4;
        case DType::f16:
        case DType::bf16:
            return 2;
        case DType::i8:
        case DType::u8:
            return 1;
    }
    return 0;
}

}  // namespace kiln
