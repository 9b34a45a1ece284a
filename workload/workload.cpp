#include "workload/workload.h"

#include <array>
#include <utility>

#include "workload/number_text.h"
#include "workload/workload_checks.h"

namespace kiln {
namespace {

bool is_all(const std::vector<int64_t> &values, int64_t value) {
    for (int64_t v : values) {
        if (v != value) return false;
    }
    return true;
}

std::string join(const std::vector<int64_t> &values) {
    std::string text;
    for (int64_t v : values) text += (text.empty() ? "" : "x") + std::to_string(v);
    return text;
}

bool parse_list(std::string_view text, std::vector<int64_t> *values) {
    values->clear();
    for (std::string_view part : split(text, 'x')) {
        const auto v = parse_integer(part);
        if (!v) return false;
        values->push_back(*v);
    }
    return true;
}

std::string join(const std::vector<Padding> &padding) {
    std::string text;
    for (const Padding &p : padding)
        text += (text.empty() ? "" : "x") + std::to_string(p.lo) + "," + std::to_string(p.hi);
    return text;
}

bool parse_list(std::string_view text, std::vector<Padding> *padding) {
    padding->clear();
    for (std::string_view part : split(text, 'x')) {
        const auto pair = split(part, ',');
        if (pair.size() != 2) return false;
        const auto lo = parse_integer(pair[0]), hi = parse_integer(pair[1]);
        if (!lo || !hi) return false;
        padding->push_back({*lo, *hi});
    }
    return true;
}

std::string join(const std::vector<EpilogueStep> &epilogue) {
    std::string text;
    for (const EpilogueStep &step : epilogue) text += (text.empty() ? "" : ",") + name(step);
    return text;
}

bool parse_list(std::string_view text, std::vector<EpilogueStep> *epilogue) {
    epilogue->clear();
    for (std::string_view part : split(text, ',')) {
        const auto step = parse_epilogue_step(part);
        if (!step) return false;
        epilogue->push_back(*step);
    }
    return true;
}

template<typename T>
bool assign(T *field, std::optional<T> value) {
    if (value) *field = *value;
    return value.has_value();
}

// Kinds of operation, as sets.
enum Kinds : unsigned {
    convolutions = 1,
    blocks = 2,
    layout_transforms = 4,
    input_transforms = 8,
    filter_transforms = 16,
    output_transforms = 32,
    image_transforms = input_transforms | output_transforms,
    winograd = image_transforms | filter_transforms,
    any_kind = 63,
};

Kinds kind_of(Operation op) {
    switch (op) {
        case Operation::space_to_depth:
        case Operation::depth_to_space:
            return blocks;
        case Operation::layout_transform:
            return layout_transforms;
        case Operation::winograd_input_transform:
            return input_transforms;
        case Operation::winograd_filter_transform:
            return filter_transforms;
        case Operation::winograd_output_transform:
            return output_transforms;
        default:
            return convolutions;
    }
}

// What the output transform writes where nothing else is asked for; empty where the fields make no sense.
std::vector<int64_t> whole_tiles(const Workload &w) {
    std::vector<int64_t> extents(2, 1);
    if (w.input.size() != 4 || w.tile.size() != 2) return {};
    for (int d = 0; d < 2; d++) {
        if (__builtin_mul_overflow(w.input[d + 1], w.tile[d], &extents[d])) return {};
    }
    return extents;
}

// One row a field of the key, in the key's order: which operations it says something about, how it is written, read,
// and when it has its default value.
struct Field {
    std::string_view name;
    unsigned used_by;
    bool (*is_default)(const Workload &);
    std::string (*text)(const Workload &);
    bool (*parse)(std::string_view, Workload *);
};

constexpr Field fields[] = {
    {"input", any_kind & ~filter_transforms, [](const Workload &w) { return w.input.empty(); },
     [](const Workload &w) { return join(w.input); },
     [](std::string_view t, Workload *w) { return parse_list(t, &w->input); }},
    {"kernel", convolutions | filter_transforms | layout_transforms, [](const Workload &w) { return w.kernel.empty(); },
     [](const Workload &w) { return join(w.kernel); },
     [](std::string_view t, Workload *w) { return parse_list(t, &w->kernel); }},
    {"strides", convolutions, [](const Workload &w) { return is_all(w.strides, 1); },
     [](const Workload &w) { return join(w.strides); },
     [](std::string_view t, Workload *w) { return parse_list(t, &w->strides); }},
    {"padding", convolutions | input_transforms,
     [](const Workload &w) {
         for (const Padding &p : w.padding) {
             if (p != Padding{}) return false;
         }
         return true;
     },
     [](const Workload &w) { return join(w.padding); },
     [](std::string_view t, Workload *w) { return parse_list(t, &w->padding); }},
    {"lhs_dilation", convolutions, [](const Workload &w) { return is_all(w.lhs_dilation, 1); },
     [](const Workload &w) { return join(w.lhs_dilation); },
     [](std::string_view t, Workload *w) { return parse_list(t, &w->lhs_dilation); }},
    {"rhs_dilation", convolutions, [](const Workload &w) { return is_all(w.rhs_dilation, 1); },
     [](const Workload &w) { return join(w.rhs_dilation); },
     [](std::string_view t, Workload *w) { return parse_list(t, &w->rhs_dilation); }},
    {"feature_group_count", convolutions, [](const Workload &w) { return w.feature_group_count == 1; },
     [](const Workload &w) { return std::to_string(w.feature_group_count); },
     [](std::string_view t, Workload *w) { return assign(&w->feature_group_count, parse_integer(t)); }},
    {"batch_group_count", convolutions, [](const Workload &w) { return w.batch_group_count == 1; },
     [](const Workload &w) { return std::to_string(w.batch_group_count); },
     [](std::string_view t, Workload *w) { return assign(&w->batch_group_count, parse_integer(t)); }},
    {"dtype", any_kind, [](const Workload &w) { return w.dtype == DType::f32; },
     [](const Workload &w) { return std::string(name(w.dtype)); },
     [](std::string_view t, Workload *w) {  // output_dtype follows unless it comes later in the key
         const bool known = assign(&w->dtype, parse_dtype(t));
         w->output_dtype = w->dtype;
         return known;
     }},
    {"output_dtype", any_kind, [](const Workload &w) { return w.output_dtype == w.dtype; },
     [](const Workload &w) { return std::string(name(w.output_dtype)); },
     [](std::string_view t, Workload *w) { return assign(&w->output_dtype, parse_dtype(t)); }},
    {"input_layout", convolutions | blocks | image_transforms,
     [](const Workload &w) { return w.input_layout == ActivationLayout{}; },
     [](const Workload &w) { return name(w.input_layout); },
     [](std::string_view t, Workload *w) { return assign(&w->input_layout, parse_activation_layout(t)); }},
    {"output_layout", convolutions | blocks | image_transforms,
     [](const Workload &w) { return w.output_layout == ActivationLayout{}; },
     [](const Workload &w) { return name(w.output_layout); },
     [](std::string_view t, Workload *w) { return assign(&w->output_layout, parse_activation_layout(t)); }},
    {"kernel_layout", convolutions | filter_transforms,
     [](const Workload &w) { return w.kernel_layout == KernelLayout::hwio; },
     [](const Workload &w) { return std::string(name(w.kernel_layout)); },
     [](std::string_view t, Workload *w) { return assign(&w->kernel_layout, parse_kernel_layout(t)); }},
    {"epilogue", convolutions, [](const Workload &w) { return w.epilogue.empty(); },
     [](const Workload &w) { return join(w.epilogue); },
     [](std::string_view t, Workload *w) { return parse_list(t, &w->epilogue); }},
    {"special_values", convolutions, [](const Workload &w) { return w.special_values == SpecialValues::finite; },
     [](const Workload &w) { return std::string(name(w.special_values)); },
     [](std::string_view t, Workload *w) { return assign(&w->special_values, parse_special_values(t)); }},
    {"block", blocks, [](const Workload &w) { return w.block.empty(); },
     [](const Workload &w) { return join(w.block); },
     [](std::string_view t, Workload *w) { return parse_list(t, &w->block); }},
    {"from_layout", layout_transforms, [](const Workload &w) { return w.from_layout.empty(); },
     [](const Workload &w) { return w.from_layout; },
     [](std::string_view t, Workload *w) { return w->from_layout = t, !t.empty(); }},
    {"to_layout", layout_transforms, [](const Workload &w) { return w.to_layout.empty(); },
     [](const Workload &w) { return w.to_layout; },
     [](std::string_view t, Workload *w) { return w->to_layout = t, !t.empty(); }},
    {"window", image_transforms, [](const Workload &w) { return w.window.empty(); },
     [](const Workload &w) { return join(w.window); },
     [](std::string_view t, Workload *w) { return parse_list(t, &w->window); }},
    {"tile", winograd, [](const Workload &w) { return w.tile.empty(); }, [](const Workload &w) { return join(w.tile); },
     [](std::string_view t, Workload *w) { return parse_list(t, &w->tile); }},
    {"points", winograd, [](const Workload &w) { return w.points == 0; },
     [](const Workload &w) { return std::to_string(w.points); },
     [](std::string_view t, Workload *w) { return assign(&w->points, parse_integer(t)); }},
    {"tile_dimensions", winograd,
     [](const Workload &w) {
         return w.tile_dimensions.empty() || w.tile_dimensions == std::vector<int64_t>{0, 1};
     },
     [](const Workload &w) { return join(w.tile_dimensions); },
     [](std::string_view t, Workload *w) { return parse_list(t, &w->tile_dimensions); }},
    {"batch", image_transforms, [](const Workload &w) { return w.batch; },
     [](const Workload &) { return std::string("false"); },
     [](std::string_view t, Workload *w) { return w->batch = t != "false", !w->batch; }},
    {"output", output_transforms, [](const Workload &w) { return w.output.empty(); },
     [](const Workload &w) { return join(w.output); },
     [](std::string_view t, Workload *w) { return parse_list(t, &w->output); }},
};

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

bool is_winograd_transform(Operation op) { return kind_of(op) & winograd; }

bool is_data_movement(Operation op) { return kind_of(op) & (blocks | layout_transforms); }

bool has_field(Operation op, std::string_view field_name) {
    for (const Field &field : fields) {
        if (field.name == field_name) return field.used_by & kind_of(op);
    }
    return false;
}

bool transforms_weights(const Workload &w) { return w.op == Operation::layout_transform && w.input.empty(); }

bool has_epilogue(const Workload &w, EpilogueStep::Kind kind) {
    for (const EpilogueStep &step : w.epilogue) {
        if (step.kind == kind) return true;
    }
    return false;
}

std::vector<int64_t> output_shape(const Workload &w) {
    std::vector<int64_t> shape{w.input[0] / w.batch_group_count};
    for (int d = 0; d < w.spatial_rank; d++) {
        const int64_t padded = (w.input[d + 1] - 1) * w.lhs_dilation[d] + 1 + w.padding[d].lo + w.padding[d].hi;
        const int64_t window = (w.kernel[d] - 1) * w.rhs_dilation[d] + 1;
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

int64_t flop_count(const Workload &w) {
    if (!is_convolution(w.op)) return 0;
    return 2 * elements(output_shape(w)) * elements(w.kernel) / w.kernel.back();
}

void fill_defaults(Workload *w) {
    if (w->spatial_rank < 1 || w->spatial_rank > 3) return;  // validate() says so
    for (auto *values : {&w->strides, &w->lhs_dilation, &w->rhs_dilation}) {
        if (values->empty()) values->assign(w->spatial_rank, 1);
    }
    if (w->padding.empty()) w->padding.assign(w->spatial_rank, {});
    if (!is_winograd_transform(w->op)) return;
    if (w->tile_dimensions.empty()) w->tile_dimensions = {0, 1};
    if (w->op == Operation::winograd_output_transform && w->output == whole_tiles(*w)) w->output.clear();
}

int rank_of_shape(const Workload &w) {
    return static_cast<int>(transforms_weights(w) ? w.kernel.size() : w.input.size()) - 2;
}

Status validate(const Workload &w) {
    const bool is_nothing = w.op == Operation::layout_transform && w.input.empty() && w.kernel.empty();
    if (is_nothing) return check_data_movement(w);
    if (w.spatial_rank < 1 || w.spatial_rank > 3) {
        return bad_input(op_name(w) + " with " + std::to_string(w.spatial_rank) +
                         " spatial dimensions; 1, 2 and 3 are known");
    }
    for (const Field &field : fields) {
        if (!(field.used_by & kind_of(w.op)) && !field.is_default(w)) {
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
    if (is_convolution(w.op)) return check_convolution(w);
    if (is_winograd_transform(w.op)) return check_winograd_transform(w);
    return check_data_movement(w);
}

std::string key(const Workload &w) {
    std::string text = op_name(w);
    for (const Field &field : fields) {
        if (field.is_default(w)) continue;
        text += '/';
        text += field.name;
        text += ':';
        text += field.text(w);
    }
    return text;
}

Result<Workload> parse_workload_key(std::string_view text) {
    const std::string where = "workload key `" + std::string(text) + "`: ";
    const auto parts = split(text, '/');
    const auto operation = parse_operation(parts[0]);
    if (!operation) return bad_input(where + "unknown operation `" + std::string(parts[0]) + "`");
    Workload w;
    w.op = operation->op;
    size_t next = 0;
    for (size_t i = 1; i < parts.size(); i++) {
        const size_t colon = parts[i].find(':');
        const std::string_view field_name = parts[i].substr(0, colon);
        while (next < std::size(fields) && fields[next].name != field_name) next++;
        if (next == std::size(fields) || colon == std::string_view::npos) {
            return bad_input(where + "field `" + std::string(field_name) + "` is unknown, repeated or out of order");
        }
        if (!fields[next++].parse(parts[i].substr(colon + 1), &w)) {
            return bad_input(where + "bad value of field `" + std::string(field_name) + "`");
        }
    }
    w.spatial_rank = operation->spatial_rank ? operation->spatial_rank : rank_of_shape(w);
    if (w.spatial_rank < 1 || w.spatial_rank > 3) return bad_input(where + "1, 2 or 3 spatial dimensions are known");
    fill_defaults(&w);
    if (Status s = validate(w); !s) return bad_input(where + s.error().message);
    if (key(w) != text) return bad_input(where + "not canonical; the canonical key is `" + key(w) + "`");
    return w;
}

int size_of(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return 4;
        case DType::f16:
        case DType::bf16:
            return 2;
        case DType::i8:
            return 1;
    }
    return 0;
}

}  // namespace kiln
