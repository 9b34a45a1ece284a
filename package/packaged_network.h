// A network of a package: its program with the kernels' weights laid out for each target, or in C for a soft core.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/program.h"
#include "workload/target.h"

namespace kiln {

// A stretch of the weights file.
struct StoredSection {
    int64_t offset = 0, bytes = 0;
    std::string digest;  // of its bytes
};

// The places of a step's operands, then of its result; of a copy: from, to. Constants lie at `offset` in the weights file,
// in the form that the kernel reads.
using StepPlaces = std::vector<graph::Place>;

struct PackagedVariant {
    Target target;
    std::vector<StepPlaces> steps;  // by step of the program
    std::string why_place;          // among the variants, a sentence
};

struct PackagedNetwork {
    bool prepares_inputs = false;  // of the package's network
    network::Program program;
    std::vector<PackagedVariant> variants;  // best first
    std::string weights_file;               // in the build's work folder
    int64_t weights_bytes = 0;              // of that file
    std::string weights_digest;
    std::vector<StoredSection> sections;
    std::string plan;             // 32 hex digits: a hash of all that library and weights must agree on
    bool embeds_weights = false;  // the library holds them, and there is no file

    // NAME_<function>() answers it.
    std::string function() const { return prepares_inputs ? "prepare" : "network"; }
};

// A network for a soft core: one function in C, with what is known of it.
struct SoftCoreNetwork {
    network::Program program;
    std::vector<int> kernels;             // by step: its number in the package; -1: a copy
    std::string function;                 // NAME_run
    std::vector<std::string> parameters;  // of it: inputs, then outputs
    std::string core;                     // key(CoreDescription)
    // Of a run in simulation, with caches as the run before left them.
    int64_t cycles = 0;
    std::string conditions;  // JSON: everything that was counted
    // Bytes of all that a run needs.
    int64_t text_bytes = 0;      // code of kernels and of the function itself
    int64_t constant_bytes = 0;  // packed weights and other constants, in flash
    int64_t arena_bytes = 0;     // static memory
    int64_t stack_bytes = 0;     // the most that a call can use
};

}  // namespace kiln
