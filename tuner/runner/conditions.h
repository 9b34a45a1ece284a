// The facts that the machine tells about itself while something is measured: the column `conditions` of the database.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/memory_state.h"

namespace kiln {

// Read at the beginning and at the end; costs some 100 us.
class Conditions {
public:
    Conditions();

    struct Notes {  // what only the one who measured knows
        int calls_per_sample = 1;
        int64_t preempted_calls = 0;
        bool retried = false, cut_off = false;
        std::vector<double> sentinel_ns;  // before and after
        MemoryState memory;               // where it was measured
        int memory_repeats = 0;           // of the samples, because it moved
    };
    std::string to_json(const Notes &notes) const;

private:
    int64_t steal_ticks_, switches_;
};

}  // namespace kiln
