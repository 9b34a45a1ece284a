// A valid trial that may race, and what is known of its kernel's time.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "records/trial.h"
#include "tuner/build/builder.h"
#include "tuner/job/racing/recorded_time.h"

namespace kiln {

struct Contestant {
    Trial trial;        // the latest of its kernel: a time that did not hold is one of an earlier trial
    RecordedTime time;  // in ns
    bool is_default = false;
    std::optional<Artifact> artifact;
    bool is_entered = true;              // by the job; else the best so far, of an algorithm that was not asked for
    std::set<std::string> earlier = {};  // ids of the trials before

    bool is(const std::string &id) const { return trial.id == id || earlier.contains(id); }

    // The kernel was measured again.
    void renew(const Trial &later, const RecordedTime &later_time) {
        if (later.id != trial.id) earlier.insert(trial.id);
        trial = later;
        time = later_time;
    }
};

}  // namespace kiln
