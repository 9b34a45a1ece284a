#include "graph/operator_text.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace kiln::graph {
namespace {

std::string number_text(double number) {
    char buffer[32];
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
}

template<typename T>
std::string list(const std::vector<T> &values, char separator) {
    std::string text;
    for (const T &value : values) text += (text.empty() ? "" : std::string(1, separator)) + std::to_string(value);
    return text;
}

std::string list(const std::vector<Padding> &padding) {
    std::string text;
    for (const Padding &p : padding) {
        text += (text.empty() ? "" : "x") + std::to_string(p.lo) + "," + std::to_string(p.hi);
    }
    return text;
}

// The fields of one operator: " name=value", but for those that have their default everywhere.
struct Fields {
    std::string text;

    void add(std::string_view name, const std::string &value) { text += " " + std::string(name) + "=" + value; }
    void add_unless(int64_t usual, std::string_view name, const std::vector<int64_t> &values) {
        if (std::ranges::any_of(values, [&](int64_t v) { return v != usual; })) add(name, list(values, 'x'));
    }
    void add_padding(const std::vector<Padding> &padding) {
        if (std::ranges::any_of(padding, [](const Padding &p) { return p != Padding{}; }))
            add("padding", list(padding));
    }
};

// Indices as runs of equal steps, for resize, slices and pads are few of them: "- 0..223 -*2", "9..1/-2".
std::string runs(const std::vector<int64_t> &indices) {
    constexpr int most_runs = 6;
    std::string text;
    int count = 0;
    for (size_t begin = 0; begin < indices.size(); count++) {
        if (!text.empty()) text += ' ';
        if (count == most_runs) return text + "...";
        size_t end = begin + 1;
        const int64_t step = end < indices.size() ? indices[end] - indices[begin] : 0;
        const bool is_outside = indices[begin] == Resample::outside;
        while (end < indices.size() && indices[end] - indices[end - 1] == step &&
               (indices[end] == Resample::outside) == is_outside) {
            end++;
        }
        const auto length = static_cast<int64_t>(end - begin);
        text += is_outside ? "-" : std::to_string(indices[begin]);
        if (length > 1 && (step == 0 || is_outside)) {
            text += "*" + std::to_string(length);
        } else if (length > 1) {
            text += ".." + std::to_string(indices[end - 1]) + (step == 1 ? "" : "/" + std::to_string(step));
        }
        begin = end;
    }
    return text;
}

std::string fields(const Convolution &op) {
    Fields f;
    f.add_unless(1, "strides", op.strides);
    f.add_unless(1, "input_dilation", op.input_dilation);
    f.add_unless(1, "dilations", op.dilations);
    f.add_padding(op.padding);
    if (op.groups != 1) f.add("groups", std::to_string(op.groups));
    if (!op.epilogue.empty()) f.add("epilogue", names(op.epilogue));
    if (!op.prologue.empty()) f.add("prologue", names(op.prologue));
    if (!op.depthwise.empty()) f.add("depthwise", list(op.depthwise, 'x'));
    if (op.separate_sums) f.text += " separate_sums";
    if (op.kernel_zero_point) f.text += " kernel_zero_point";
    if (op.result_type != Element::i32) f.add("result", std::string(graph::name(op.result_type)));
    return f.text;
}

std::string fields(const MatrixProduct &) { return ""; }

std::string fields(const Pool &op) {
    Fields f;
    f.add("window", list(op.window, 'x'));
    f.add_unless(1, "strides", op.strides);
    f.add_unless(1, "dilations", op.dilations);
    f.add_padding(op.padding);
    f.add_unless(0, "beyond", op.beyond);
    if (op.counts_padding) f.text += " counts_padding";
    return f.text;
}

std::string fields(const Elementwise &op) { return " " + to_text(op.expression); }

std::string fields(const Reduce &op) { return " axes=" + list(op.axes, ','); }

std::string fields(const Normalize &op) {
    Fields f;
    f.add("axes", list(op.axes, ','));
    if (op.epsilon != 0) f.add("epsilon", number_text(op.epsilon));
    return f.text;
}

std::string fields(const Resample &op) {
    Fields f;
    for (const Resample::Axis &axis : op.axes) {
        const std::string which = "axis" + std::to_string(axis.axis);
        if (axis.taps == 1) {
            f.add(which, "[" + runs(axis.indices) + (axis.weights.empty() ? "]" : "] weighted"));
        } else {
            const std::string count = std::to_string(axis.taps < 1 ? 0 : axis.indices.size() / axis.taps);
            f.add(which, "[" + count + " of " + std::to_string(axis.taps) + " taps]");
        }
    }
    if (!op.fills_with(0)) f.add("fill", number_text(op.fill));
    return f.text;
}

std::string fields(const Gather &op) { return " axis=" + std::to_string(op.axis); }
std::string fields(const Transpose &op) { return " permutation=" + list(op.permutation, ','); }
std::string fields(const Reshape &) { return ""; }
std::string fields(const Concat &op) { return " axis=" + std::to_string(op.axis); }

struct Names {
    std::string_view operator()(const Convolution &) const { return "convolution"; }
    std::string_view operator()(const MatrixProduct &) const { return "matrix_product"; }
    std::string_view operator()(const Pool &op) const {
        return op.kind == Pool::Kind::maximum ? "maximum_pool" : "average_pool";
    }
    std::string_view operator()(const Elementwise &) const { return "elementwise"; }
    std::string_view operator()(const Reduce &op) const {
        switch (op.kind) {
            case Reduce::Kind::sum:
                return "sum";
            case Reduce::Kind::mean:
                return "mean";
            case Reduce::Kind::product:
                return "product";
            case Reduce::Kind::maximum:
                return "maximum";
            case Reduce::Kind::minimum:
                return "minimum";
        }
        return "";
    }
    std::string_view operator()(const Normalize &op) const {
        switch (op.kind) {
            case Normalize::Kind::softmax:
                return "softmax";
            case Normalize::Kind::log_softmax:
                return "log_softmax";
            case Normalize::Kind::mean_variance:
                return "mean_variance";
        }
        return "";
    }
    std::string_view operator()(const Resample &) const { return "resample"; }
    std::string_view operator()(const Gather &) const { return "gather"; }
    std::string_view operator()(const Transpose &) const { return "transpose"; }
    std::string_view operator()(const Reshape &) const { return "reshape"; }
    std::string_view operator()(const Concat &) const { return "concat"; }
};

}  // namespace

std::string_view name(const Operator &op) { return std::visit(Names(), op); }

std::string fields_text(const Operator &op) {
    return std::visit([](const auto &o) { return fields(o); }, op);
}

std::string to_text(const Operator &op) {
    std::string text = std::string(name(op)) + fields_text(op);
    if (const auto *elementwise = std::get_if<Elementwise>(&op)) text += " shape=" + to_text(elementwise->shape);
    if (const auto *reshape = std::get_if<Reshape>(&op)) text += " shape=" + to_text(reshape->shape);
    return text;
}

}  // namespace kiln::graph
