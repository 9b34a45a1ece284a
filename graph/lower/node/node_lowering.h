// One node of a model while a rule turns it into nodes of the graph: what it says, what its inputs are, and what comes of it.
//
// All functions throw a Refusal where the node does not allow what is asked.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/lower/node/attributes.h"
#include "graph/lower/node/folding_builder.h"

namespace kiln::graph {

// What lowers a graph that an attribute holds, where its node stands.
struct BodyPlacer {
    // With values for its inputs, one for each: its outputs, or nothing after telling what stands in the way.
    std::function<std::optional<std::vector<ValueId>>(const onnx::Body &, const std::vector<ValueId> &inputs)> place;
    // Told before that a graph will be lowered so often.
    std::function<void(const onnx::Body &, int64_t times)> announce;
};

class NodeLowering {
public:
    // `inputs` has an entry for each input of the node, none where it is left out.
    NodeLowering(const onnx::Node &node, int64_t opset, std::vector<std::optional<ValueId>> inputs,
                 FoldingBuilder *builder, BodyPlacer placer);

    const Attributes attributes;

    int64_t opset() const { return opset_; }  // of the node's domain

    // Inputs.
    int input_count() const { return static_cast<int>(inputs_.size()); }  // without those that are left out at the end
    int listed_input_count() const { return static_cast<int>(node_.inputs.size()); }
    bool has_input(int index) const { return index < input_count() && inputs_[index]; }
    ValueId input(int index) const;
    std::vector<ValueId> all_inputs() const;  // of operators that take any number

    Shape shape(ValueId value) const { return builder_.value(value).form.shape; }
    Element type(ValueId value) const { return builder_.value(value).form.type; }
    int rank(ValueId value) const { return static_cast<int>(builder_.value(value).form.shape.size()); }
    int64_t elements(ValueId value) const;

    // What must be known now, because the shape of a result or the choice of an operator follows from it: constants, also
    // dequantized ones. `what` is the name of the input in ONNX. A value without elements gives an empty list.
    std::vector<int64_t> known_integers(int input, std::string_view what) const;
    std::vector<double> known_reals(int input, std::string_view what) const;
    int64_t known_integer(int input, std::string_view what) const;
    bool is_known(int input) const { return builder_.is_known(this->input(input)); }
    // Inputs of the network that a value follows from, where all of them have few elements: what a program chooses once, such as a
    // sampling rate.
    std::vector<ValueId> settings_behind(int input) const;
    // Of an input that must be known and is not: what the user can do.
    std::string way_out(int input) const;
    // The only element of a constant, if it is one.
    std::optional<double> known_scalar(ValueId value) const;
    bool is_known_zero(ValueId value) const;  // a constant whose elements are all 0
    // An element of a constant of floats that a predicate holds for.
    std::optional<double> known_element(ValueId value, bool (*holds)(double)) const;

    // Nodes on the way. Those that would change nothing are left out.
    ValueId add(Operator op, std::vector<ValueId> inputs);
    void check_room(const Shape &shape) const;  // for a constant, before its numbers are made
    ValueId constant(const Numbers &numbers);
    ValueId constant(const onnx::Tensor &tensor);
    ValueId elementwise(Expression expression, std::vector<ValueId> inputs, const Shape &at_least = {});
    ValueId converted(ValueId value, Element type);
    ValueId reshape(ValueId value, Shape shape);
    ValueId transpose(ValueId value, std::vector<int> permutation);
    // Refuses so many repetitions where it is certain that they write out too much.
    void announce(const onnx::Body &body, int64_t times) { placer_.announce(body, times); }
    std::optional<std::vector<ValueId>> place(const onnx::Body &body, const std::vector<ValueId> &inputs) {
        auto outputs = placer_.place(body, inputs);
        has_unplaced_body_ = has_unplaced_body_ || !outputs;
        return outputs;
    }
    bool has_unplaced_body() const { return has_unplaced_body_; }

    // Inputs of f16 and bf16 are read as f32 from now on. The first outputs are converted to these types.
    void compute_in_f32(std::vector<Element> types_of_outputs);

    // An output. One that a rule leaves out is one that kiln does not compute; only who reads it is refused.
    void result(ValueId value, int output = 0);
    bool wants(int output) const;  // whether the node names it
    int output_count() const;
    const std::vector<std::optional<ValueId>> &results() const { return results_; }

private:
    Numbers known(int input, std::string_view what) const;

    const onnx::Node &node_;
    int64_t opset_;
    std::vector<std::optional<ValueId>> inputs_, results_;
    std::vector<Element> types_of_outputs_;  // of those that are converted
    FoldingBuilder &builder_;
    BodyPlacer placer_;
    bool has_unplaced_body_ = false;
};

// `axis` counted from 0, where negative ones count from the end.
int axis_of(int64_t axis, int rank);
std::vector<int> axes_of(const std::vector<int64_t> &axes, int rank);  // ascending; none twice

}  // namespace kiln::graph
