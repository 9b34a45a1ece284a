#include "workload/workload_fields.h"

#include <algorithm>

#include "runtime/kiln.h"
#include "workload/number_text.h"

namespace kiln {
namespace {

// Kinds of operation, as sets.
enum Kinds : unsigned {
    forward_convolutions = 1,
    gradients = 2,
    blocks = 4,
    layout_transforms = 8,
    input_transforms = 16,
    filter_transforms = 32,
    output_transforms = 64,
    convolutions = forward_convolutions | gradients,
    image_transforms = input_transforms | output_transforms,
    winograd = image_transforms | filter_transforms,
    nests = 128,
    has_shapes = 127,  // input, kernel or both
    any_kind = 255,
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
        case Operation::nest:
            return nests;
        case Operation::conv:
            return forward_convolutions;
        default:
            return gradients;
    }
}

// --- in keys: what each type of value is written as ---

std::string text(const std::vector<int64_t> &values) {
    std::string text;
    for (int64_t v : values) text += (text.empty() ? "" : "x") + std::to_string(v);
    return text;
}
std::string text(const std::vector<std::vector<int64_t>> &shapes) {
    std::string all;
    for (const auto &shape : shapes) all += (all.empty() ? "" : ",") + text(shape);
    return all;
}
std::string text(const std::vector<Padding> &padding) {
    std::string text;
    for (const Padding &p : padding)
        text += (text.empty() ? "" : "x") + std::to_string(p.lo) + "," + std::to_string(p.hi);
    return text;
}
std::string text(const std::vector<EpilogueStep> &epilogue) { return names(epilogue); }
std::string text(const std::vector<DType> &dtypes) {
    std::string text;
    for (const DType dtype : dtypes) text += (text.empty() ? "" : ",") + std::string(name(dtype));
    return text;
}
std::string text(int64_t value) { return std::to_string(value); }
std::string text(bool value) { return value ? "true" : "false"; }
std::string text(const std::string &value) { return value; }
std::string text(DType value) { return std::string(name(value)); }
std::string text(const ActivationLayout &value) { return name(value); }
std::string text(KernelLayout value) { return std::string(name(value)); }
std::string text(SpecialValues value) { return std::string(name(value)); }

// --- and back ---

template<typename T>
bool assign(std::optional<T> value, T *result) {
    if (value) *result = *value;
    return value.has_value();
}

bool read(std::string_view text, std::vector<int64_t> *values) {
    values->clear();
    for (std::string_view part : split(text, 'x')) {
        if (!assign(parse_integer(part), &values->emplace_back())) return false;
    }
    return true;
}
bool read(std::string_view text, std::vector<std::vector<int64_t>> *shapes) {
    shapes->clear();
    for (std::string_view part : split(text, ',')) {
        if (!read(part, &shapes->emplace_back())) return false;
    }
    return true;
}
bool read(std::string_view text, std::vector<Padding> *padding) {
    padding->clear();
    for (std::string_view part : split(text, 'x')) {
        const auto pair = split(part, ',');
        Padding &p = padding->emplace_back();
        if (pair.size() != 2 || !assign(parse_integer(pair[0]), &p.lo) || !assign(parse_integer(pair[1]), &p.hi))
            return false;
    }
    return true;
}
bool read(std::string_view text, std::vector<EpilogueStep> *epilogue) {
    epilogue->clear();
    for (std::string_view part : split(text, ',')) {
        if (!assign(parse_epilogue_step(part), &epilogue->emplace_back())) return false;
    }
    return true;
}
bool read(std::string_view text, std::vector<DType> *dtypes) {
    dtypes->clear();
    for (std::string_view part : split(text, ',')) {
        if (!assign(parse_dtype(part), &dtypes->emplace_back())) return false;
    }
    return true;
}
bool read(std::string_view text, int64_t *value) { return assign(parse_integer(text), value); }
bool read(std::string_view text, bool *value) { return *value = text == "true", *value || text == "false"; }
bool read(std::string_view text, std::string *value) { return *value = text, !text.empty(); }
bool read(std::string_view text, DType *value) { return assign(parse_dtype(text), value); }
bool read(std::string_view text, ActivationLayout *value) { return assign(parse_activation_layout(text), value); }
bool read(std::string_view text, KernelLayout *value) { return assign(parse_kernel_layout(text), value); }
bool read(std::string_view text, SpecialValues *value) { return assign(parse_special_values(text), value); }

// --- in the C interface ---

using Descriptor = kiln_descriptor;

template<typename From, typename To>
void copy(const From &from, To &to) {
    std::copy(from.begin(), from.end(), std::begin(to));
}

void describe_input(const Workload &w, Descriptor *d) {
    if (w.input.empty()) return;
    d->batch = w.input.front();
    d->channels = w.input.back();
    std::copy(w.input.begin() + 1, w.input.end() - 1, d->spatial);
}

void describe_kernel(const Workload &w, Descriptor *d) {
    if (w.kernel.empty()) return;
    std::copy(w.kernel.begin(), w.kernel.end() - 2, d->kernel);
    d->output_channels = w.kernel.back();
    if (w.input.empty()) d->channels = w.kernel[w.spatial_rank];
}

void describe_padding(const Workload &w, Descriptor *d) {
    for (size_t i = 0; i < w.padding.size(); i++) {
        d->padding_lo[i] = w.padding[i].lo;
        d->padding_hi[i] = w.padding[i].hi;
    }
}

void describe_epilogue(const Workload &w, Descriptor *d) {
    for (const EpilogueStep &step : w.epilogue) {
        d->epilogue[d->epilogue_count++] = {interface_code(step.kind), step.lo, step.hi};
    }
}

void describe_prologue(const Workload &w, Descriptor *d) {
    for (const EpilogueStep &step : w.prologue) {
        d->prologue[d->prologue_count++] = {interface_code(step.kind), step.lo, step.hi};
    }
}

void describe_input_layout(const Workload &w, Descriptor *d) {
    d->input_layout = interface_code(w.input_layout.kind);
    d->input_layout_block = w.input_layout.block;
}

void describe_output_layout(const Workload &w, Descriptor *d) {
    d->output_layout = interface_code(w.output_layout.kind);
    d->output_layout_block = w.output_layout.block;
}

// A nest has no numbers that a program would fill in: programs look it up by its key, and its descriptor is a hash of that
// (FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/).
void describe_nest(const Workload &w, Descriptor *d) {
    uint64_t hash = 0xcbf29ce484222325;
    for (const char c : key(w)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    d->nest = hash;
}
void described_by_key(const Workload &, Descriptor *) {}

using W = Workload;
using D = Descriptor;

constexpr WorkloadField fields[] = {
    {"input", has_shapes & ~filter_transforms, &W::input, LeftOut::refused, describe_input},
    {"kernel", convolutions | filter_transforms | layout_transforms, &W::kernel, LeftOut::refused, describe_kernel},
    {"strides", convolutions, &W::strides, LeftOut::one_each, [](const W &w, D *d) { copy(w.strides, d->strides); }},
    {"padding", convolutions | input_transforms, &W::padding, LeftOut::one_each, describe_padding},
    {"lhs_dilation", convolutions, &W::lhs_dilation, LeftOut::one_each,
     [](const W &w, D *d) { copy(w.lhs_dilation, d->lhs_dilation); }},
    {"rhs_dilation", convolutions, &W::rhs_dilation, LeftOut::one_each,
     [](const W &w, D *d) { copy(w.rhs_dilation, d->rhs_dilation); }},
    {"feature_group_count", convolutions, &W::feature_group_count, LeftOut::initial,
     [](const W &w, D *d) { d->feature_group_count = w.feature_group_count; }},
    {"batch_group_count", convolutions, &W::batch_group_count, LeftOut::initial,
     [](const W &w, D *d) { d->batch_group_count = w.batch_group_count; }},
    {"dtype", any_kind, &W::dtype, LeftOut::initial, [](const W &w, D *d) { d->dtype = interface_code(w.dtype); }},
    {"output_dtype", any_kind, &W::output_dtype, LeftOut::as_dtype,
     [](const W &w, D *d) { d->output_dtype = interface_code(w.output_dtype); }},
    {"input_layout", convolutions | blocks | image_transforms, &W::input_layout, LeftOut::initial,
     describe_input_layout},
    {"output_layout", convolutions | blocks | image_transforms, &W::output_layout, LeftOut::initial,
     describe_output_layout},
    {"kernel_layout", convolutions | filter_transforms, &W::kernel_layout, LeftOut::initial,
     [](const W &w, D *d) { d->kernel_layout = interface_code(w.kernel_layout); }},
    {"epilogue", forward_convolutions, &W::epilogue, LeftOut::initial, describe_epilogue},
    {"special_values", convolutions, &W::special_values, LeftOut::initial,
     [](const W &w, D *d) { d->special_values = interface_code(w.special_values); }},
    {"kernel_dtype", forward_convolutions, &W::kernel_dtype, LeftOut::initial,
     [](const W &w, D *d) { d->kernel_dtype = is_quantized(w) ? interface_code(w.kernel_dtype) : 0; }},
    {"kernel_zero_point", forward_convolutions, &W::kernel_zero_point, LeftOut::initial,
     [](const W &w, D *d) { d->kernel_zero_point = w.kernel_zero_point; }},
    {"prologue", forward_convolutions, &W::prologue, LeftOut::initial, describe_prologue},
    {"depthwise", forward_convolutions, &W::depthwise, LeftOut::initial,
     [](const W &w, D *d) { copy(w.depthwise, d->depthwise); }},
    {"block", blocks, &W::block, LeftOut::refused, [](const W &w, D *d) { copy(w.block, d->block); }, 1, true},
    {"from_layout", layout_transforms, &W::from_layout, LeftOut::refused,
     [](const W &w, D *d) { copy(w.from_layout, d->from_layout); }},
    {"to_layout", layout_transforms, &W::to_layout, LeftOut::refused,
     [](const W &w, D *d) { copy(w.to_layout, d->to_layout); }},
    {"window", image_transforms, &W::window, LeftOut::refused, [](const W &w, D *d) { copy(w.window, d->kernel); }},
    {"tile", winograd, &W::tile, LeftOut::refused, [](const W &w, D *d) { copy(w.tile, d->tile); }},
    {"points", winograd, &W::points, LeftOut::initial,
     [](const W &w, D *d) { d->points = static_cast<int32_t>(w.points); }, 0},
    {"tile_dimensions", winograd, &W::tile_dimensions, LeftOut::outermost,
     [](const W &w, D *d) { copy(w.tile_dimensions, d->tile_dimensions); }, 0},
    {"batch", image_transforms, &W::batch, LeftOut::initial, [](const W &w, D *d) { d->without_batch = !w.batch; }},
    {"output", output_transforms, &W::output, LeftOut::initial, [](const W &w, D *d) { copy(w.output, d->output); }},
    {"loops", nests, &W::loops, LeftOut::refused, describe_nest},
    {"over", nests, &W::over, LeftOut::initial, described_by_key},
    {"operands", nests, &W::operands, LeftOut::refused, described_by_key},
    {"operand_dtypes", nests, &W::operand_dtypes, LeftOut::initial, described_by_key},
    {"reduction", nests, &W::reduction, LeftOut::initial, described_by_key},
    {"reads", nests, &W::reads, LeftOut::refused, described_by_key},
    {"term", nests, &W::term, LeftOut::refused, described_by_key},
    {"finish", nests, &W::finish, LeftOut::initial, described_by_key},
};

// Whether every entry is what an entry is where the list is left out.
template<typename T>
bool is_one_each(const T &) {
    return false;
}
bool is_one_each(const std::vector<int64_t> &values) {
    return std::ranges::all_of(values, [](int64_t v) { return v == 1; });
}
bool is_one_each(const std::vector<Padding> &values) {
    return std::ranges::all_of(values, [](const Padding &p) { return p == Padding{}; });
}

}  // namespace

bool WorkloadField::is_used_by(Operation op) const { return used_by & kind_of(op); }

std::span<const WorkloadField> workload_fields() { return fields; }

bool is_left_out(const WorkloadField &field, const Workload &w) {
    static const Workload initial;
    const bool is_initial = std::visit([&](auto member) { return w.*member == initial.*member; }, field.member);
    switch (field.left_out) {
        case LeftOut::refused:
        case LeftOut::initial:
            return is_initial;
        case LeftOut::one_each:
            return std::visit([&](auto member) { return is_one_each(w.*member); }, field.member);
        case LeftOut::as_dtype:
            return w.output_dtype == w.dtype;
        case LeftOut::outermost:
            return is_initial || w.tile_dimensions == std::vector<int64_t>{0, 1};
    }
    return false;
}

void leave_out(const WorkloadField &field, Workload *w) {
    if (field.left_out == LeftOut::as_dtype) w->output_dtype = w->dtype;
}

std::string key_text(const WorkloadField &field, const Workload &w) {
    return std::visit([&](auto member) { return text(w.*member); }, field.member);
}

bool read_key_text(const WorkloadField &field, std::string_view from, Workload *w) {
    return std::visit([&](auto member) { return read(from, &(w->*member)); }, field.member);
}

}  // namespace kiln
