// The outcome of a step that a candidate can be blamed for: a build, a run or a heat. It is the result that was asked
// for, or a failure, which becomes a row in the database. Where no candidate can be blamed, there is an Error
// (workload/result.h) instead.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "records/trial.h"

namespace kiln {

struct Failure {
    TrialStatus status = TrialStatus::crash;
    std::string message;
    std::string stderr_text;
    ErrorMeasures errors;  // how far a wrong result was off, as far as the comparison got
};

template<typename T>
struct Attempt {
    std::variant<T, Failure> outcome;
    int64_t wall_ns = 0;

    bool ok() const { return std::holds_alternative<T>(outcome); }
    // Preconditions: ok(), and not ok().
    T &value() { return std::get<T>(outcome); }
    const T &value() const { return std::get<T>(outcome); }
    const Failure &failure() const { return std::get<Failure>(outcome); }

    // The failure and the time of a step, as those of the larger step that it was part of.
    template<typename Larger>
    Attempt<Larger> failed_as() const {
        return {failure(), wall_ns};
    }
};

}  // namespace kiln
