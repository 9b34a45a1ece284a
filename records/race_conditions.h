// The conditions of a race as text: those of its heats, and what was found about its entrants' times before and after them.
#pragma once

#include <string>
#include <vector>

namespace kiln {

struct QualifyingTurn {
    std::string trial;
    double ns = 0;  // in turns with the others
    bool operator==(const QualifyingTurn &) const = default;
};

struct RaceConditions {
    std::vector<std::string> heats;          // JSON, see Measurement
    std::vector<QualifyingTurn> qualifying;  // who had a turn before the race
    std::vector<std::string> notes;          // for people: which times did not hold
    std::string network = {};                // where the kernels raced; empty: each alone
};

// {"network":"resnet50","heats":[...],"qualifying":[{"trial":"88e5...","ns":645000}],"notes":[...]}; what is empty but for
// `heats` is left out.
std::string to_json(const RaceConditions &conditions);

// The trials that had a turn. Empty where the text tells of none.
std::vector<std::string> qualified_trials(const std::string &conditions);

// The network that the kernels raced in. Empty where the text tells of none.
std::string raced_network(const std::string &conditions);

}  // namespace kiln
