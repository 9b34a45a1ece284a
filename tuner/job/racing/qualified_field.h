// The field of a race whose contestants were measured in different states of the machine's memory: the most promising take
// turns, heat by heat, until nobody is left who should be close to the fastest (tuner/race/qualifying.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/race_conditions.h"
#include "tuner/job/racing/race_heats.h"

namespace kiln {

// One of its kernels failed, though all were judged before.
struct FailedHeat {
    std::vector<size_t> racing;  // contestants
    Failure failure;
};

struct QualifiedField {
    std::vector<size_t> field;              // contestants, the fastest in turns first
    std::vector<QualifyingTurn> turns;      // all that were taken
    std::optional<FailedHeat> failed = {};  // then there is no field
};

struct QualifyingRequest {
    std::string incumbent;  // id of the trial that won the last race; empty: there was none
    uint64_t seed = 1;
    int64_t time_ns = 0;  // about; a heat that takes longer has fewer contestants
};

// At most three heats. A field of fewer than two: no heat was possible. Errors: the job cannot go on.
Result<QualifiedField> qualify(std::vector<Contestant> *contestants, const RaceHeats &heats,
                               const QualifyingRequest &request);

// Who would have the first turns: to know whether all of them were raced before.
std::vector<size_t> first_qualifiers(const std::vector<Contestant> &contestants, const std::string &incumbent);

}  // namespace kiln
