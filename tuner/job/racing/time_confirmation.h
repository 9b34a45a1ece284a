// Measures a kernel again in fresh processes, to know whether its recorded time holds. A time that does not hold is
// replaced: a new trial of the same candidate is recorded with the new measurement. The old trial stays as it was.
#pragma once

#include <optional>
#include <string>

#include "tuner/job/racing/contestant.h"
#include "tuner/job/tune_job.h"

namespace kiln {

class TimeConfirmation {
public:
    TimeConfirmation(const TuneJob &job, const Workload &workload) : job_(job), workload_(workload) {}

    struct Answer {
        bool holds = true;
        std::string note =
            {};  // for people, where it does not: "645.0 us did not hold, a fresh process takes 2061.3 us"
        std::optional<Failure> failure = {};  // of a kernel that was right before
    };
    // At most three processes. Precondition: the kernel is built. A time keeps where the machine is too busy to tell. Errors:
    // the job cannot go on, or nobody wants the answer any more (interrupted).
    Result<Answer> confirm(Contestant *contestant, const OutOfTime &out_of_time) const;

private:
    Result<RunResult> measure(const Contestant &contestant, const OutOfTime &out_of_time) const;
    Status replace(const Measurement &measurement, Contestant *contestant) const;

    const TuneJob &job_;
    const Workload &workload_;
};

}  // namespace kiln
