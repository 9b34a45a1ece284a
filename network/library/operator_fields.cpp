#include "network/library/operator_fields.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

namespace kiln::network {
namespace {

using namespace graph;
using Numbers = std::vector<double>;

template<typename T>
Numbers numbers_of(const std::vector<T> &values) {
    return Numbers(values.begin(), values.end());
}

// What is written down of an operator.
class Writer {
public:
    template<typename T>
    void field(const char *name, const std::vector<T> &values) {
        out.numbers[name] = numbers_of(values);
    }
    void field(const char *name, int64_t value) { out.numbers[name] = {double(value)}; }
    void field(const char *name, double value) { out.numbers[name] = {value}; }
    void padding(const std::vector<Padding> &padding) {
        Numbers &numbers = out.numbers["padding"];
        for (const Padding &p : padding) numbers.insert(numbers.end(), {double(p.lo), double(p.hi)});
    }
    void visit(const Convolution &op) {
        field("strides", op.strides);
        field("input_dilation", op.input_dilation);
        field("dilations", op.dilations);
        padding(op.padding);
        field("groups", op.groups);
        out.texts["epilogue"] = names(op.epilogue);
        if (!op.prologue.empty()) out.texts["prologue"] = names(op.prologue);
        if (!op.depthwise.empty()) field("depthwise", op.depthwise);
        if (op.separate_sums) field("separate_sums", int64_t(1));
        if (op.kernel_zero_point) field("kernel_zero_point", int64_t(1));
        if (op.result_type != Element::i32) out.texts["result_type"] = graph::name(op.result_type);
    }
    void visit(const MatrixProduct &) {}
    void visit(const Pool &op) {
        field("window", op.window);
        field("strides", op.strides);
        field("dilations", op.dilations);
        padding(op.padding);
        field("beyond", op.beyond);
        field("counts_padding", int64_t(op.counts_padding));
    }
    void visit(const Elementwise &op) {
        out.texts["expression"] = to_text(op.expression);
        field("shape", op.shape);
    }
    void visit(const Reduce &op) { field("axes", op.axes); }
    void visit(const Normalize &op) {
        field("axes", op.axes);
        field("epsilon", op.epsilon);
    }
    void visit(const Resample &op) {
        Numbers axes, taps, indices, weights;
        for (const Resample::Axis &axis : op.axes) {
            axes.push_back(axis.axis);
            taps.push_back(axis.taps);
            indices.insert(indices.end(), axis.indices.begin(), axis.indices.end());
            Numbers of_axis = axis.weights;
            of_axis.resize(axis.indices.size(), std::nan(""));
            weights.insert(weights.end(), of_axis.begin(), of_axis.end());
        }
        out.numbers = {{"axes", axes}, {"taps", taps}, {"indices", indices}, {"weights", weights}};
        Numbers counts;
        for (const Resample::Axis &axis : op.axes) counts.push_back(double(axis.indices.size()));
        out.numbers["counts"] = counts;
        field("fill", op.fill);
    }
    void visit(const Gather &op) { field("axis", int64_t(op.axis)); }
    void visit(const Transpose &op) { field("permutation", op.permutation); }
    void visit(const Reshape &op) { field("shape", op.shape); }
    void visit(const Concat &op) { field("axis", int64_t(op.axis)); }

    OperatorFields out;
};

// Takes fields out of what somebody wrote. The first thing that is wrong stays.
class Reader {
public:
    explicit Reader(const OperatorFields &fields) : fields_(fields) {}

    template<typename T>
    std::vector<T> whole(const char *name) {
        std::vector<T> result;
        for (const double number : numbers(name)) {
            // Exactly what a double holds of whole numbers, and what T can.
            const double most = sizeof(T) == 4 ? 2147483647.0 : 9007199254740992.0;
            if (!(std::abs(number) <= most) || number != std::floor(number)) {
                complain(name, "needs whole numbers");
                return {};
            }
            result.push_back(T(number));
        }
        return result;
    }
    int64_t one(const char *name, int64_t otherwise) {
        const std::vector<int64_t> values = whole<int64_t>(name);
        if (values.size() > 1) complain(name, "needs one number");
        return values.empty() ? otherwise : values[0];
    }
    double real(const char *name, double otherwise) {
        const Numbers &values = numbers(name);
        if (values.size() > 1) complain(name, "needs one number");
        return values.empty() ? otherwise : values[0];
    }
    const Numbers &numbers(const char *name) {
        seen_.insert(name);
        static const Numbers none;
        const auto found = fields_.numbers.find(name);
        return found == fields_.numbers.end() ? none : found->second;
    }
    std::string text(const char *name) {
        seen_.insert(name);
        const auto found = fields_.texts.find(name);
        return found == fields_.texts.end() ? "" : found->second;
    }
    std::vector<Padding> padding() {
        const std::vector<int64_t> numbers = whole<int64_t>("padding");
        if (numbers.size() % 2 != 0) complain("padding", "needs two numbers for each spatial axis");
        std::vector<Padding> result(numbers.size() / 2);
        for (size_t i = 0; i < result.size(); i++) result[i] = {numbers[2 * i], numbers[2 * i + 1]};
        return result;
    }
    void complain(const std::string &field, const std::string &what) {
        if (problem_.empty()) problem_ = "operator `" + fields_.name + "`, field `" + field + "`: " + what;
    }

    Result<Operator> finish(Operator op) {
        for (const auto &[name, values] : fields_.numbers) expect(name);
        for (const auto &[name, value] : fields_.texts) expect(name);
        if (!problem_.empty()) return bad_input(problem_);
        return op;
    }

private:
    void expect(const std::string &name) {
        if (!seen_.contains(name)) complain(name, "is unknown");
    }

    const OperatorFields &fields_;
    std::set<std::string> seen_;
    std::string problem_;
};

std::vector<EpilogueStep> steps(Reader &in, const char *field) {
    std::vector<EpilogueStep> steps;
    const std::string text = in.text(field);
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const auto step = parse_epilogue_step(text.substr(begin, end - begin));
        if (!step) in.complain(field, "`" + text.substr(begin, end - begin) + "` is no step");
        if (step) steps.push_back(*step);
        begin = end + 1;
    }
    return steps;
}

Operator convolution(Reader &in) {
    Convolution op{in.whole<int64_t>("strides"),
                   in.whole<int64_t>("input_dilation"),
                   in.whole<int64_t>("dilations"),
                   in.padding(),
                   in.one("groups", 1),
                   {}};
    op.epilogue = steps(in, "epilogue");
    op.prologue = steps(in, "prologue");
    op.depthwise = in.whole<int64_t>("depthwise");
    op.separate_sums = in.one("separate_sums", 0) != 0;
    op.kernel_zero_point = in.one("kernel_zero_point", 0) != 0;
    if (const std::string type = in.text("result_type"); !type.empty()) {
        const auto element = parse_element(type);
        if (!element) in.complain("result_type", "`" + type + "` is no type");
        op.result_type = element.value_or(Element::i32);
    }
    return op;
}

Operator pool(Reader &in, Pool::Kind kind) {
    return Pool{
        kind,         in.whole<int64_t>("window"), in.whole<int64_t>("strides"),    in.whole<int64_t>("dilations"),
        in.padding(), in.whole<int64_t>("beyond"), in.one("counts_padding", 0) != 0};
}

Operator elementwise(Reader &in) {
    Elementwise op{{}, in.whole<int64_t>("shape")};
    const auto expression = scalar::parse_expression(in.text("expression"));
    if (!expression) in.complain("expression", expression.error().message);
    if (expression) op.expression = *expression;
    return op;
}

Operator resample(Reader &in) {
    Resample op{{}, in.real("fill", 0)};
    const auto axes = in.whole<int>("axes"), taps = in.whole<int>("taps");
    const auto counts = in.whole<int64_t>("counts"), indices = in.whole<int64_t>("indices");
    const Numbers &weights = in.numbers("weights");
    if (taps.size() != axes.size() || counts.size() != axes.size())
        in.complain("taps", "needs one for each axis, and so do counts");
    if (!weights.empty() && weights.size() != indices.size()) in.complain("weights", "needs one for each index");
    size_t begin = 0;
    for (size_t i = 0; i < std::min({axes.size(), taps.size(), counts.size()}); i++) {
        if (counts[i] < 0 || size_t(counts[i]) > indices.size() - begin) {
            in.complain("counts", "are not those of the indices");
            return op;
        }
        const size_t end = begin + size_t(counts[i]);
        Resample::Axis axis{
            axes[i], taps[i], {indices.begin() + std::ptrdiff_t(begin), indices.begin() + std::ptrdiff_t(end)}, {}};
        if (end > begin && !weights.empty() && !std::isnan(weights[begin])) {
            axis.weights.assign(weights.begin() + std::ptrdiff_t(begin), weights.begin() + std::ptrdiff_t(end));
        }
        op.axes.push_back(std::move(axis));
        begin = end;
    }
    if (begin != indices.size()) in.complain("counts", "are not those of the indices");
    return op;
}

int axis(Reader &in) {
    const std::vector<int> axes = in.whole<int>("axis");
    if (axes.size() > 1) in.complain("axis", "needs one number");
    return axes.empty() ? 0 : axes[0];
}

std::optional<Operator> read(const std::string &name, Reader &in) {
    if (name == "convolution") return convolution(in);
    if (name == "matrix_product") return MatrixProduct{};
    if (name == "maximum_pool") return pool(in, Pool::Kind::maximum);
    if (name == "average_pool") return pool(in, Pool::Kind::average);
    if (name == "elementwise") return elementwise(in);
    if (name == "resample") return resample(in);
    if (name == "gather") return Gather{axis(in)};
    if (name == "transpose") return Transpose{in.whole<int>("permutation")};
    if (name == "reshape") return Reshape{in.whole<int64_t>("shape")};
    if (name == "concat") return Concat{axis(in)};
    using enum Reduce::Kind;
    for (const auto kind : {sum, mean, product, maximum, minimum}) {
        if (name == graph::name(Reduce{kind, {}})) return Reduce{kind, in.whole<int>("axes")};
    }
    using enum Normalize::Kind;
    for (const auto kind : {softmax, log_softmax, mean_variance}) {
        if (name != graph::name(Normalize{kind, {}, 0})) continue;
        return Normalize{kind, in.whole<int>("axes"), in.real("epsilon", 0)};
    }
    return {};
}

}  // namespace

OperatorFields fields_of(const Operator &op) {
    Writer writer;
    writer.out.name = std::string(name(op));
    std::visit([&](const auto &o) { writer.visit(o); }, op);
    return std::move(writer.out);
}

Result<Operator> operator_of(const OperatorFields &fields) {
    Reader reader(fields);
    std::optional<Operator> op = read(fields.name, reader);
    if (!op) return bad_input("`" + fields.name + "` is no operator");
    return reader.finish(std::move(*op));
}

}  // namespace kiln::network
