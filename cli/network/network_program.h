// The program of a network on the command line: the model behind all passes and alterations, as kernel calls.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/network/network_options.h"
#include "graph/passes/float_notes.h"
#include "network/layout_costs.h"
#include "network/program.h"
#include "tuner/job/candidate_choice.h"
#include "workload/result.h"

namespace kiln {

// How a program is chosen of those that compute the same.
struct ProgramChoice {
    network::LayoutPrices layouts = {};      // what layouts are chosen by
    network::LayoutPrices alterations = {};  // what alterations are chosen by
    bool has_alterations = true;             // false: passes alone
    // What quantizes inputs first and dequantizes outputs last is left to the caller (graph/passes/quantization/stored_edges.h).
    bool has_stored_edges = false;
    // Sums of multiples of stored numbers are computed in integers (graph/passes/functions/integer_multiples.h).
    bool has_integer_multiples = false;
};

// Channels of a block in a network's layouts: those of a vector of floats, or 8 where that has fewer; 0 for soft cores.
int64_t layout_block(const Target &target);

// Times of the context's database, blocks of its target's layouts, and which untuned kernels read planes. The context outlives them.
network::LayoutPrices prices_for(const ChoiceContext &context);

// What is built for a target: soft cores take stored numbers, and no alteration was measured there. The context outlives it.
ProgramChoice choice_for(const ChoiceContext &context);

// For commands without --prepare-input. Errors begin with the file and may have several lines: what the model has that kiln cannot compute (unsupported), or what is
// wrong with it or with the shapes. `imported` is what read() answers.
Result<network::Program> program_of(const graph::Graph &imported, const NetworkOptions &options,
                                    const ProgramChoice &choice = {});

// A network, and what prepares its inputs where that is a program of its own (--prepare-input).
struct NetworkPrograms {
    network::Program network;
    std::optional<network::Program> preparation = {};
};
Result<NetworkPrograms> programs_of(const graph::Graph &imported, const NetworkOptions &options,
                                    const ProgramChoice &choice = {});

// Says of each step why it computes with floats: what the last note of its nodes says.
void explain_floats(const std::vector<graph::FloatNote> &notes, network::Program *program);

// Reads the model, too. Layouts and alterations are chosen by the times that the context's database has; without a database all
// are estimated.
Result<network::Program> read_program(const NetworkOptions &options, const ChoiceContext &context);
Result<NetworkPrograms> read_programs(const NetworkOptions &options, const ChoiceContext &context);

// Names of all alterations, with those of the user's libraries.
Result<std::vector<std::string>> alteration_names(const NetworkOptions &options);

// Times of the kernels that the context would choose. It outlives them. Where the database cannot be read, nothing is measured.
network::KernelTimes kernel_times(const ChoiceContext &context);

}  // namespace kiln
