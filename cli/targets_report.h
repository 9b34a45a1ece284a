// What `kiln targets` lists and measures, for people and programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/hardware_probe.h"
#include "workload/machine.h"
#include "workload/result.h"
#include "workload/target.h"

namespace kiln {

struct TargetFacts {
    std::string name, description;
    Target target;
    std::vector<std::string> missing;  // empty: this machine runs it
    std::optional<FmaPeak> peak, int8_peak;
};

struct MachineFacts {
    Machine machine;
    std::vector<TargetFacts> targets;  // host first
    std::vector<Bandwidth> bandwidths;
    std::vector<std::string> notes;  // of peaks that were odd
};

// All targets, without what is measured. The error is about the machine's own target.
Result<MachineFacts> list_targets(const Machine &machine, int threads);

void print_targets_json(const MachineFacts &facts, int threads);
void print_target_tables(const MachineFacts &facts, int threads, bool wide);

}  // namespace kiln
