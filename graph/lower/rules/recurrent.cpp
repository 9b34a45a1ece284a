// RNN, GRU and LSTM.
#include "graph/lower/composed/recurrent.h"

#include "graph/lower/rules/rule.h"

namespace kiln::graph {
namespace {

#define KILN_RECURRENT "activation_alpha activation_beta activations clip direction hidden_size"

constexpr Rule rows_of_recurrent[] = {
    {"DynamicQuantizeLSTM", 1, {3, 12}, 3, KILN_RECURRENT " input_forget", dynamic_quantize_lstm, microsoft},
    {"GRU", 1, {3, 6}, 2, KILN_RECURRENT " output_sequence", gru},
    {"GRU", 3, {3, 6}, 2, KILN_RECURRENT " linear_before_reset output_sequence", gru},
    {"GRU", 7, {3, 6}, 2, KILN_RECURRENT " linear_before_reset", gru},
    {"GRU", 14, {3, 6}, 2, KILN_RECURRENT " layout linear_before_reset", gru},
    {"LSTM", 1, {3, 8}, 3, KILN_RECURRENT " input_forget output_sequence", lstm},
    {"LSTM", 7, {3, 8}, 3, KILN_RECURRENT " input_forget", lstm},
    {"LSTM", 14, {3, 8}, 3, KILN_RECURRENT " input_forget layout", lstm},
    {"RNN", 1, {3, 6}, 2, KILN_RECURRENT " output_sequence", rnn},
    {"RNN", 7, {3, 6}, 2, KILN_RECURRENT, rnn},
    {"RNN", 14, {3, 6}, 2, KILN_RECURRENT " layout", rnn},
};

#undef KILN_RECURRENT

}  // namespace

std::span<const Rule> recurrent_rules() { return rows_of_recurrent; }

}  // namespace kiln::graph
