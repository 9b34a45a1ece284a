#include "check/conformance_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "workload/signature.h"
#include "check/conformance_fields.h"
#include "tuner/reference/operands.h"

namespace kiln {
namespace {

using Shape = std::vector<int64_t>;

// What is valid but has no words in a workload yet: the case is reported as unsupported.
struct Unmapped {
    std::string reason;
};
using Mapped = std::optional<Unmapped>;  // nothing: mapped

// Names of spatial dimensions, outermost first, in activations and in windows, by rank.
constexpr std::string_view spatial_names[] = {"", "W", "HW", "DHW"};
constexpr std::string_view window_names[] = {"", "S", "RS", "TRS"};
constexpr std::string_view output_names[] = {"", "Wo", "HoWo", "DoHoWo"};

std::optional<ActivationLayout> parse_layout(std::string_view text, int rank) {
    const std::string spatial(spatial_names[rank]);
    if (text == "N" + spatial + "C") return ActivationLayout{};
    const std::string first = "NC" + spatial;
    if (!text.starts_with(first)) return {};
    return parse_activation_layout("NCHW" + std::string(text.substr(first.size())));
}

std::optional<KernelLayout> parse_window_layout(std::string_view text, int rank) {
    for (std::string_view spatial : {window_names[rank], spatial_names[rank]}) {
        if (text == std::string(spatial) + "IO") return KernelLayout::hwio;
        if (text == std::string(spatial) + "OI") return KernelLayout::hwoi;
    }
    return {};
}

std::optional<DType> parse_numpy_dtype(std::string_view text) {
    if (text == "float32") return DType::f32;
    if (text == "float16") return DType::f16;
    if (text == "bfloat16") return DType::bf16;
    if (text == "int8") return DType::i8;
    return {};
}

struct Entry {
    SuiteTensor tensor;
    std::string dtype, layout;
};

// All tensors of a case. That every file is there is found now, not after an hour of building.
std::map<std::string, Entry> read_entries(ConformanceFields &fields, const nlohmann::json &object,
                                          const std::string &folder) {
    std::map<std::string, Entry> entries;
    ConformanceFields tensors = fields.object("tensors");
    if (!fields.status() || !tensors.status()) {
        fields.take(tensors.status());
        return entries;
    }
    for (const auto &[name, unused] : object["tensors"].items()) {
        ConformanceFields t = tensors.object(name);
        Entry e{.tensor = {.path = folder + "/" + t.text("file"), .shape = t.integers("shape")},
                .dtype = t.text("dtype")};
        if (t.has("layout")) e.layout = t.text("layout");
        std::error_code ignored;
        if (t.status() && !std::filesystem::is_regular_file(e.tensor.path, ignored)) {
            t.fail("file", e.tensor.path + " does not exist");
        }
        if (const auto dtype = parse_numpy_dtype(e.dtype)) e.tensor.dtype = *dtype;
        fields.take(t.status());
        entries.emplace(name, std::move(e));
    }
    return entries;
}

class CaseMapper {
public:
    CaseMapper(ConformanceFields &attributes, const std::map<std::string, Entry> &entries, ConformanceCase &result)
        : attributes_(attributes), entries_(entries), result_(result) {}

    Mapped map(std::string_view op);

private:
    Mapped convolution(Operation op);
    Mapped shuffle(Operation op);
    Mapped layout_transform();
    void moved(Workload workload, const Entry &x, const Entry &y);

    const Entry *entry(std::string_view name);
    Shape logical(const Entry &entry, std::string_view name, const ActivationLayout &layout, const Workload &w);
    void check_attributes(const Workload &w);
    void check_attribute(std::string_view name, int64_t value);
    void check_shape(std::string_view name, const Shape &expected);

    ConformanceFields &attributes_;
    const std::map<std::string, Entry> &entries_;
    ConformanceCase &result_;
};

const Entry *CaseMapper::entry(std::string_view name) {
    const auto found = entries_.find(std::string(name));
    if (found != entries_.end()) return &found->second;
    attributes_.fail(name, "the case has no such tensor");
    return nullptr;
}

void CaseMapper::check_attribute(std::string_view name, int64_t value) {
    if (!attributes_.has(name) || attributes_.integer(name) == value) return;
    attributes_.fail(name, fmt::format("is {}, but the tensors' shapes make it {}", attributes_.integer(name), value));
}

void CaseMapper::check_shape(std::string_view name, const Shape &expected) {
    const Entry *e = entry(name);
    if (!e || e->tensor.shape == expected) return;
    attributes_.fail(name, fmt::format("has shape [{}]; attributes and the other tensors make it [{}]",
                                       fmt::join(e->tensor.shape, ", "), fmt::join(expected, ", ")));
}

// N, spatial, C of a stored activation. Blocks of channels hide how many there are: attribute C tells.
Shape CaseMapper::logical(const Entry &e, std::string_view tensor, const ActivationLayout &layout, const Workload &w) {
    const Shape &s = e.tensor.shape;
    const size_t rank = w.spatial_rank;
    const bool blocked = layout.kind == ActivationLayout::Kind::nchwc;
    if (s.size() != rank + 2 + blocked) {
        attributes_.fail(tensor, fmt::format("has {} dimensions; its layout has {}", s.size(), rank + 2 + blocked));
        return Shape(rank + 2, 1);
    }
    if (layout.kind == ActivationLayout::Kind::nhwc) return s;
    Shape shape{s[0]};
    shape.insert(shape.end(), s.begin() + 2, s.begin() + 2 + rank);
    shape.push_back(blocked && attributes_.has("C") ? attributes_.integer("C") : blocked ? s[1] * s.back() : s[1]);
    return shape;
}

void CaseMapper::check_attributes(const Workload &w) {
    const Shape output = output_shape(w);
    const size_t rank = w.spatial_rank;
    check_attribute("N", w.input[0]);
    check_attribute("C", w.input[rank + 1]);
    check_attribute("KCi", w.kernel[rank]);
    check_attribute("KCo", w.kernel[rank + 1]);
    for (size_t d = 0; d < rank; d++) {
        check_attribute(spatial_names[rank].substr(d, 1), w.input[d + 1]);
        check_attribute(window_names[rank].substr(d, 1), w.kernel[d]);
        check_attribute(output_names[rank].substr(2 * d, 2), output[d + 1]);
    }
}

Mapped CaseMapper::convolution(Operation op) {
    ConformanceFields &a = attributes_;
    Workload w;
    w.op = op;
    w.strides = a.integers("window_strides");
    w.padding = a.padding("padding");
    w.lhs_dilation = a.integers("lhs_dilation");
    w.rhs_dilation = a.integers("rhs_dilation");
    w.feature_group_count = a.integer("feature_group_count");
    w.batch_group_count = a.integer("batch_group_count");
    w.spatial_rank = static_cast<int>(w.strides.size());
    const std::string input_layout = a.text("input_layout"), output_layout = a.text("output_layout");
    const std::string kernel_layout = a.text("kernel_layout"), operand_dtype = a.text("operand_dtype");
    const std::string output_dtype = a.text("output_dtype"), accumulate_dtype = a.text("accumulate_dtype");
    if (!a.status()) return {};
    if (w.spatial_rank < 1 || w.spatial_rank > 3) {
        return Unmapped{fmt::format("{} spatial dimensions; kiln knows 1 to 3", w.spatial_rank)};
    }
    const auto in = parse_layout(input_layout, w.spatial_rank), out = parse_layout(output_layout, w.spatial_rank);
    const auto window = parse_window_layout(kernel_layout, w.spatial_rank);
    const auto dtype = parse_numpy_dtype(operand_dtype), result_dtype = parse_numpy_dtype(output_dtype);
    if (!in || !out || !window) {
        return Unmapped{
            fmt::format("layouts {}, {}, {} are not all known", input_layout, kernel_layout, output_layout)};
    }
    if (!dtype || !result_dtype || accumulate_dtype != "float32") {
        return Unmapped{
            fmt::format("operands {}, sums {}, output {}: kiln sums in float32 and knows float32, float16, "
                        "bfloat16 and int8",
                        operand_dtype, accumulate_dtype, output_dtype)};
    }
    w.input_layout = *in;
    w.output_layout = *out;
    w.kernel_layout = *window;
    w.dtype = *dtype;
    w.output_dtype = *result_dtype;
    if (a.boolean("bias")) w.epilogue.push_back({EpilogueStep::Kind::bias});
    if (a.boolean("relu")) w.epilogue.push_back({EpilogueStep::Kind::relu});

    // A gradient's result has the shape of the forward operand that it is the gradient of.
    const bool by_input = op == Operation::conv_backprop_input, by_kernel = op == Operation::conv_backprop_kernel;
    const std::string_view x = by_input ? "dx" : "x", k = by_kernel ? "dk" : "k",
                           y = op == Operation::conv ? "y" : "dy";
    const Entry *input = entry(x), *kernel = entry(k), *output = entry(y);
    if (!input || !kernel || !output) return {};
    w.input = logical(*input, x, w.input_layout, w);
    w.kernel = kernel->tensor.shape;
    if (w.kernel_layout == KernelLayout::hwoi && w.kernel.size() >= 2)
        std::swap(w.kernel.rbegin()[0], w.kernel.rbegin()[1]);
    if (Status s = validate(w); !s) a.fail("attributes and shapes", s.error().message);
    if (!a.status()) return {};
    check_attributes(w);
    check_shape(x, stored_shape(w.input, w.input_layout));
    check_shape(y, stored_shape(output_shape(w), w.output_layout));

    result_.first = (by_input ? output : input)->tensor;
    result_.second = (by_kernel ? output : kernel)->tensor;
    result_.expected = (by_input ? input : by_kernel ? kernel : output)->tensor;
    for (const auto &operand : {result_.first, result_.second}) {
        if (operand->dtype != w.dtype)
            a.fail("operand_dtype", fmt::format("is {}, but {} is not", operand_dtype, operand->path));
    }
    if (result_.expected.dtype != w.output_dtype) {
        a.fail("output_dtype", fmt::format("is {}, but {} is not", output_dtype, result_.expected.path));
    }
    if (has_epilogue(w, EpilogueStep::Kind::bias)) {
        check_shape("bias", {w.kernel.back()});
        if (const Entry *bias = entry("bias")) result_.bias = bias->tensor;
    }
    result_.workload = std::move(w);
    return {};
}

Mapped CaseMapper::shuffle(Operation op) {
    const std::string layout_name = attributes_.text("layout");
    Workload w;
    w.op = op;
    w.block = attributes_.integers("block");
    w.spatial_rank = static_cast<int>(w.block.size());
    const std::string order = attributes_.has("channel_order") ? attributes_.text("channel_order") : "";
    const Entry *x = entry("x"), *y = entry("y");
    if (!attributes_.status()) return {};
    if (w.spatial_rank < 1 || w.spatial_rank > 3) return Unmapped{"block has neither 1, 2 nor 3 entries"};
    const auto layout = parse_layout(layout_name, w.spatial_rank);
    if (!layout) return Unmapped{"layout " + layout_name + " is not known"};
    if (!order.empty() && order != "(bh*block_w + bw)*C + c") return Unmapped{"channel order " + order};
    const auto dtype = parse_numpy_dtype(x->dtype);
    if (!dtype || x->dtype != y->dtype) return Unmapped{"dtype " + x->dtype + " is not known"};
    w.dtype = w.output_dtype = *dtype;
    w.input_layout = w.output_layout = *layout;
    w.input = logical(*x, "x", *layout, w);
    moved(std::move(w), *x, *y);
    return {};
}

Mapped CaseMapper::layout_transform() {
    const std::string kind = attributes_.text("kind");
    Workload w;
    w.op = Operation::layout_transform;
    w.from_layout = attributes_.text("from_layout");
    w.to_layout = attributes_.text("to_layout");
    ConformanceFields dims = attributes_.object("dims");
    w.spatial_rank = 2;
    const bool weights = kind == "weights";
    for (const std::string_view name : weights ? std::array{"H", "W", "I", "O"} : std::array{"N", "H", "W", "C"}) {
        (weights ? w.kernel : w.input).push_back(dims.integer(name));
    }
    attributes_.take(dims.status());
    const Entry *x = entry("x"), *y = entry("y");
    if (!attributes_.status()) return {};
    if (kind != "weights" && kind != "activations") return Unmapped{"kind " + kind + " is not known"};
    const auto dtype = parse_numpy_dtype(x->dtype);
    if (!dtype || x->dtype != y->dtype) return Unmapped{"dtype " + x->dtype + " is not known"};
    w.dtype = w.output_dtype = *dtype;
    moved(std::move(w), *x, *y);
    return {};
}

// Data movement: what goes in, what comes out, and that both are of the workload's shape.
void CaseMapper::moved(Workload w, const Entry &x, const Entry &y) {
    fill_defaults(&w);
    if (Status s = validate(w); !s) return attributes_.fail("attributes and shapes", s.error().message);
    const Signature tensors = signature(w);
    check_shape("x", tensors.operands[0].shape());
    check_shape("y", tensors.result.shape());
    (transforms_weights(w) ? result_.second : result_.first) = x.tensor;
    result_.expected = y.tensor;
    result_.workload = std::move(w);
}

Mapped CaseMapper::map(std::string_view op) {
    if (op == "conv_fwd" || op == "conv_fwd_epilogue") return convolution(Operation::conv);
    // What is asked for is the plain convolution; through which block it is computed is up to the algorithm.
    if (op == "conv_fwd_space_to_depth") return convolution(Operation::conv);
    if (op == "conv_bwd_input") return convolution(Operation::conv_backprop_input);
    if (op == "conv_bwd_kernel") return convolution(Operation::conv_backprop_kernel);
    if (op == "space_to_depth") return shuffle(Operation::space_to_depth);
    if (op == "depth_to_space") return shuffle(Operation::depth_to_space);
    if (op == "layout_transform") return layout_transform();
    if (op == "conv_int8" || op == "depthwise_conv_int8") {
        return Unmapped{"int8 needs the epilogue step `requantize`, which workloads do not have yet"};
    }
    if (op == "onnx_graph") return Unmapped{"a graph of layers; kiln compiles single workloads"};
    return Unmapped{fmt::format("operation `{}` is not known", op)};
}

}  // namespace

Result<ConformanceCase> parse_conformance_case(const nlohmann::json &object, const std::string &folder,
                                               const std::string &manifest) {
    std::string where = manifest + ": case";
    if (object.is_object() && object.contains("id") && object["id"].is_string()) {
        where += fmt::format(" `{}`", object["id"].get<std::string>());
    }
    ConformanceFields fields(object, where);
    ConformanceCase result;
    result.id = fields.text("id");
    const std::string op = fields.text("op");
    const std::vector<std::string> tags = fields.texts("tags");
    const auto entries = read_entries(fields, object, folder);
    ConformanceFields tolerance = fields.object("tolerance"), attributes = fields.object("attrs");
    result.tolerance.value = tolerance.text("kind") == "exact" ? 0 : tolerance.number("value_floored");
    fields.take(tolerance.status());
    fields.take(attributes.status());
    if (!fields.status()) return fields.status().error();

    const Mapped mapped = CaseMapper(attributes, entries, result).map(op);
    if (!attributes.status()) return attributes.status().error();
    const auto tagged = [&](std::string_view tag) { return std::find(tags.begin(), tags.end(), tag) != tags.end(); };
    result.judged = !tagged("padding_nan_ambiguous");
    if (mapped) result.reason = mapped->reason;
    if (result.workload && result.judged && tagged("special_values")) {
        result.workload->special_values = SpecialValues::exact;
    }
    return result;
}

}  // namespace kiln
