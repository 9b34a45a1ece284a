// What the steps of RNN, GRU and LSTM have in common: weights of one direction, products with them, gates, activations.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

enum class RecurrentKind { rnn, gru, lstm };

// The node's inputs, checked. `sequence` is steps x batch x features whatever the node's layout, and weights are as ONNX's operators have
// them: directions x gates * hidden x features, or hidden.
struct RecurrentInputs {
    ValueId sequence = 0, weights = 0, recurrent_weights = 0;
    int64_t steps = 0, batch = 0, hidden = 0;
    std::vector<bool> reversed;  // one a direction
    bool is_batch_first = false;
    std::optional<ValueId> is_inside;  // steps x batch x 1: whether a step is one of its sequence; nothing: all are
    bool quantizes_states = false;     // products are of quanta: the state of each step is quantized by its own range

    int directions() const { return static_cast<int>(reversed.size()); }
};

RecurrentInputs recurrent_inputs(NodeLowering &node, RecurrentKind kind);

// The inputs of onnxruntime's DynamicQuantizeLSTM: quantized weights are transposed there. The sequence is quantized by its range.
RecurrentInputs quantized_recurrent_inputs(NodeLowering &node);

class RecurrentCell {
public:
    RecurrentCell(NodeLowering &node, RecurrentKind kind, const RecurrentInputs &inputs, int direction);

    int64_t steps() const { return inputs_.steps; }
    bool is_reversed() const { return inputs_.reversed[direction_]; }
    bool is_linear_before_reset() const { return is_linear_; }
    bool has_lengths() const { return inputs_.is_inside.has_value(); }
    Element type() const { return node_.type(inputs_.sequence); }

    // The sums of all gates, batch x gates * hidden: what step `t` of the sequence gives to them, with biases, and what a state
    // gives to them. Where GRU is not linear before the reset, the state gives nothing to the gate that is reset.
    ValueId input_of_step(int64_t t) const;
    // batch x hidden: `then` for sequences that have a step t, else `otherwise`, zeros where that is nothing.
    ValueId where_inside(int64_t t, ValueId then, std::optional<ValueId> otherwise) const;
    ValueId recur(ValueId h) const;
    ValueId recur_reset(ValueId h) const;  // what the reset state gives to that gate

    ValueId gate(ValueId sums, int index) const;
    std::optional<ValueId> peephole(int gate) const;                   // a number for each hidden element
    std::optional<ValueId> reset_bias() const { return reset_bias_; }  // of what the state gives to it

    // Function `index` of those that the node names, behind its clip where there is one.
    Expression activation(int index, const Expression &x, bool is_clipped = true) const;

private:
    using Activation = std::function<Expression(const Expression &)>;

    ValueId part(ValueId all, int64_t first, int64_t count) const;  // along the second axis, of this direction
    ValueId seen(ValueId h) const;                                  // what a product sees of a state
    ValueId zeros(int64_t count) const;
    ValueId bias();
    void read_activations(RecurrentKind kind);

    NodeLowering &node_;
    const RecurrentInputs &inputs_;
    const int direction_, gates_;
    const bool is_linear_;
    ValueId projected_ = 0;  // steps x batch x gates * hidden
    ValueId weights_ = 0;    // hidden x gates * hidden, or fewer gates
    std::optional<ValueId> reset_weights_, reset_bias_;
    std::optional<ValueId> state_bias_;  // of all gates: that of the reset one, and zeros
    std::vector<Activation> activations_;
};

}  // namespace kiln::graph
