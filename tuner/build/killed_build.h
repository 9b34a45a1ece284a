// A build that ended because its process was killed: by the system where memory is short, or by somebody. That says
// nothing about the candidate.
//
// A process that dies of a signal of its own making, such as SIGSEGV, is a compiler that crashes: the candidate's failure,
// where it crashes again. Any other signal came from outside. Such a build is tried again, and where it is killed each
// time, its trial says so and is not counted by later jobs.
#pragma once

#include "records/trial.h"
#include "tuner/build/attempt.h"
#include "tuner/process/child_process.h"

namespace kiln {

constexpr int killed_attempts = 3, crashed_attempts = 2;

bool is_crash(const ChildResult &child);
bool was_killed(const ChildResult &child);

// The failure of a `program` that was killed in all attempts.
Failure killed_failure(const std::string &program, const ChildResult &child);

// The same where it ran out of memory under a limit of the user's own, which is lower than kiln's.
Failure starved_failure(const std::string &program, const ChildResult &child);

// Whether a recorded trial is of a killed build, also one that was recorded as a failure of the compiler, as kiln did
// at first.
bool is_killed_build(const Trial &trial);

}  // namespace kiln
