// Spectra of sounds. Their lengths are known, so that transforms are products with constant matrices: a DFT is a matrix product, a
// STFT a convolution, whose stride is the step between frames.
//
// Formulas are those of ONNX's operators (onnx.ai/onnx/operators).
#pragma once

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

void dft_of_opset_17(NodeLowering &node);  // the axis is an attribute
void dft(NodeLowering &node);
void stft(NodeLowering &node);

// Constants.
void hann_window(NodeLowering &node);
void hamming_window(NodeLowering &node);
void blackman_window(NodeLowering &node);
void mel_weight_matrix(NodeLowering &node);

}  // namespace kiln::graph
