#include "graph/lower/node/node_lowering.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"

namespace kiln::graph {
namespace {

// Shapes, indices and bounds are short. A list beyond this is no such thing.
constexpr int64_t most_known_elements = int64_t{1} << 26;

constexpr double exact_integers = 9007199254740992.0;  // 2^53: up to here a double has all of them

}  // namespace

NodeLowering::NodeLowering(const onnx::Node &node, int64_t opset, std::vector<std::optional<ValueId>> inputs,
                           FoldingBuilder *builder, BodyPlacer placer)
    : attributes(node),
      node_(node),
      opset_(opset),
      inputs_(std::move(inputs)),
      results_(node.outputs.size()),
      builder_(*builder),
      placer_(std::move(placer)) {}

ValueId NodeLowering::input(int index) const {
    if (!has_input(index)) reject("its input " + std::to_string(index) + " is missing");
    return *inputs_[index];
}

std::vector<ValueId> NodeLowering::all_inputs() const {
    std::vector<ValueId> all;
    for (int i = 0; i < input_count(); ++i) all.push_back(input(i));
    return all;
}

int64_t NodeLowering::elements(ValueId value) const { return value_or_refusal(element_count(shape(value))); }

Numbers NodeLowering::known(int index, std::string_view what) const {
    const Value &value = builder_.value(input(index));
    const std::string name = "its input " + shown(what);
    if (elements(input(index)) > most_known_elements) refuse(name + " has too many elements");
    std::optional<Numbers> numbers = builder_.known(input(index));
    if (!numbers && is_known(index)) refuse(name + " is one of more constants than kiln reads beforehand");
    if (!numbers) {
        refuse(name + " (value " + shown(value.name) +
               ") is known only when the network runs, and kiln needs it before; " + way_out(index));
    }
    return std::move(*numbers);
}

std::vector<ValueId> NodeLowering::settings_behind(int index) const {
    constexpr int64_t few = 16;  // images and sounds are no settings
    std::vector<ValueId> inputs = builder_.inputs_behind(this->input(index));
    if (std::ranges::any_of(inputs, [&](ValueId id) { return elements(id) > few; })) return {};
    return inputs;
}

std::string NodeLowering::way_out(int index) const {
    const std::vector<ValueId> settings = settings_behind(index);
    if (settings.empty()) return "export the model with it as a constant";
    std::string options;
    for (const ValueId id : settings) options += " --constant " + shown(builder_.value(id).name) + "=...";
    return "state what it follows from:" + options;
}

std::vector<int64_t> NodeLowering::known_integers(int index, std::string_view what) const {
    Numbers numbers = known(index, what);
    if (const auto *integers = std::get_if<std::vector<int64_t>>(&numbers.elements)) return *integers;
    reject("its input " + shown(what) + " must have integers");
}

std::vector<double> NodeLowering::known_reals(int index, std::string_view what) const {
    Numbers numbers = known(index, what);
    if (const auto *reals = std::get_if<std::vector<double>>(&numbers.elements)) return *reals;
    const auto &integers = std::get<std::vector<int64_t>>(numbers.elements);
    return {integers.begin(), integers.end()};
}

int64_t NodeLowering::known_integer(int index, std::string_view what) const {
    const std::vector<int64_t> values = known_integers(index, what);
    if (values.size() != 1) reject("its input " + shown(what) + " must have one element");
    return values[0];
}

std::optional<double> NodeLowering::known_scalar(ValueId id) const {
    if (elements(id) != 1) return {};
    const std::optional<Numbers> numbers = builder_.known(id);
    if (!numbers) return {};
    if (const auto *reals = std::get_if<std::vector<double>>(&numbers->elements)) return reals->front();
    const int64_t integer = std::get<std::vector<int64_t>>(numbers->elements).front();
    if (std::abs(static_cast<double>(integer)) > exact_integers) return {};
    return static_cast<double>(integer);
}

bool NodeLowering::is_known_zero(ValueId id) const {
    const Value &value = builder_.value(id);
    if (!value.constant) return false;
    const auto bytes = value.constant->bytes();
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

std::optional<double> NodeLowering::known_element(ValueId id, bool (*holds)(double)) const {
    const std::optional<Numbers> numbers = builder_.known(id);
    const auto *reals = numbers ? std::get_if<std::vector<double>>(&numbers->elements) : nullptr;
    if (!reals) return {};
    const auto found = std::ranges::find_if(*reals, holds);
    return found == reals->end() ? std::nullopt : std::optional(*found);
}

ValueId NodeLowering::add(Operator op, std::vector<ValueId> inputs) {
    const auto output =
        std::find_if(node_.outputs.begin(), node_.outputs.end(), [](const auto &o) { return !o.empty(); });
    const std::string name =
        (output == node_.outputs.end() ? node_.name : *output) + "/" + std::string(graph::name(op));
    return value_or_refusal(builder_.node(std::move(op), std::move(inputs), name, {origin(node_)}));
}

void NodeLowering::check_room(const Shape &shape) const {
    if (const Status status = builder_.check_room(value_or_refusal(element_count(shape))); !status)
        throw Refusal{status.error()};
}

ValueId NodeLowering::constant(const Numbers &numbers) {
    return value_or_refusal(builder_.constant(origin(node_) + "/constant", numbers));
}

ValueId NodeLowering::constant(const onnx::Tensor &tensor) {
    const int64_t bytes = value_or_refusal(element_count(tensor.shape)) * size_of(tensor.type);
    if (static_cast<int64_t>(tensor.data.bytes().size()) != bytes) reject("a tensor in it lacks elements");
    return builder_.constant(origin(node_) + "/constant", {tensor.type, tensor.shape}, tensor.data);
}

ValueId NodeLowering::elementwise(Expression expression, std::vector<ValueId> inputs, const Shape &at_least) {
    Shape result = at_least;
    for (const ValueId input : inputs) result = value_or_refusal(broadcast(result, shape(input)));
    // A number in the expression says more to a pass than an operand of one element, and is no value to read.
    for (size_t i = inputs.size(); i-- > 0;) {
        const std::optional<double> number = known_scalar(inputs[i]);
        if (!number || std::isnan(*number) || inputs.size() == 1) continue;
        expression = compose(expression, static_cast<int>(i), graph::constant(*number, type(inputs[i])));
        inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (expression == operand(0) && result == shape(inputs[0])) return inputs[0];
    return add(Elementwise{std::move(expression), result}, std::move(inputs));
}

ValueId NodeLowering::converted(ValueId value, Element to) {
    return type(value) == to ? value : elementwise(cast(operand(0), to), {value});
}

ValueId NodeLowering::reshape(ValueId value, Shape to) {
    if (to == shape(value)) return value;
    return add(Reshape{std::move(to)}, {value});
}

ValueId NodeLowering::transpose(ValueId value, std::vector<int> permutation) {
    std::vector<int> same(permutation.size());
    std::iota(same.begin(), same.end(), 0);
    if (permutation == same && rank(value) == static_cast<int>(same.size())) return value;
    return add(Transpose{std::move(permutation)}, {value});
}

void NodeLowering::compute_in_f32(std::vector<Element> types_of_outputs) {
    types_of_outputs_ = std::move(types_of_outputs);
    for (std::optional<ValueId> &input : inputs_) {
        if (input && is_narrow_float(type(*input))) input = converted(*input, Element::f32);
    }
}

void NodeLowering::result(ValueId value, int output) {
    if (output < static_cast<int>(types_of_outputs_.size())) value = converted(value, types_of_outputs_[output]);
    if (output < static_cast<int>(results_.size())) results_[output] = value;
}

bool NodeLowering::wants(int output) const {
    return output < static_cast<int>(node_.outputs.size()) && !node_.outputs[output].empty();
}

int NodeLowering::output_count() const { return static_cast<int>(node_.outputs.size()); }

int axis_of(int64_t axis, int rank) {
    if (axis < -rank || axis >= rank) {
        reject("axis " + std::to_string(axis) + " does not exist in a value of rank " + std::to_string(rank));
    }
    return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> axes_of(const std::vector<int64_t> &axes, int rank) {
    std::vector<int> result;
    for (const int64_t axis : axes) result.push_back(axis_of(axis, rank));
    std::sort(result.begin(), result.end());
    if (std::adjacent_find(result.begin(), result.end()) != result.end()) reject("it names an axis twice");
    return result;
}

}  // namespace kiln::graph
