// RNN, GRU and LSTM: one group of nodes for each step of the sequence.
//
// The product of all inputs with their weights does not depend on the steps, so it is one for the whole sequence. A step is the
// product of the state before it with the recurrent weights, and few element-wise nodes. Steps have equal workloads, so that
// they share their kernels. With a batch of 1 the gates of a step are views of one row.
//
// Formulas and the order of gates in weights are those of ONNX's operators (onnx.ai/onnx/operators).
#pragma once

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

void rnn(NodeLowering &node);
void gru(NodeLowering &node);
void lstm(NodeLowering &node);

// onnxruntime's LSTM of quantized weights, whose products are of quanta: the sequence and each state are quantized by their ranges.
void dynamic_quantize_lstm(NodeLowering &node);

}  // namespace kiln::graph
