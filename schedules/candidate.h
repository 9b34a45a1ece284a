// A candidate is all that is needed to build a kernel again: algorithm + schedule template + knob values.
//
//   text    := algorithm "@" version "/" schedule "@" version *( "/" knob ":" value )
//   example := direct@1/cpu_tile@1/vectors:2/pixels:14
//
// The text has no blank, `=` or `;`, so that it passes through command lines, SQL and CMake unharmed. Knobs are sorted
// by name, so equal candidates have equal texts. This file is the only codec; tests/schedules/candidate_test.cpp freezes it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "workload/result.h"

namespace kiln {

using Knobs = std::map<std::string, int64_t, std::less<>>;

struct Candidate {
    std::string algorithm;
    int algorithm_version = 1;
    std::string schedule;
    int schedule_version = 1;
    Knobs knobs;

    auto operator<=>(const Candidate &) const = default;
    bool operator==(const Candidate &) const = default;
};

std::string to_text(const Candidate &candidate);
Result<Candidate> parse_candidate(std::string_view text);

}  // namespace kiln
