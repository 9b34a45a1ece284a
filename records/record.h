// The records that a database consists of: the values that merge copies, and that export and import exchange as text.
// Everything else in the file follows from them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "records/race.h"
#include "records/trial.h"
#include "workload/result.h"

namespace kiln {

// The name of a workload in a workload list, and how often it occurs there. Where two databases differ in the count,
// the larger one is kept, so that merging is the same in any order.
struct WorkloadName {
    std::string workload, list, name;
    int64_t count = 1;
    bool operator==(const WorkloadName &) const = default;
};

struct StoredMeasurement {
    std::string id;  // content id
    Measurement measurement;
    bool operator==(const StoredMeasurement &) const = default;
};

struct StoredTrial {
    Trial trial;              // with its id
    std::string measurement;  // id; empty unless the status is ok
    bool operator==(const StoredTrial &) const = default;
};

// The kinds are in an order in which no record refers to a later kind.
using Record = std::variant<WorkloadName, StoredMeasurement, StoredTrial, Race>;

// "trial 0123...": how messages call a record.
std::string title(const WorkloadName &name);
std::string title(const StoredMeasurement &stored);
std::string title(const StoredTrial &stored);
std::string title(const Race &race);
std::string title(const Record &record);

// Whether the record is as it was once written: its id is that of its content, and its values are possible
// (record_values.h). A name has no id, because nothing refers to it.
Status check_content(const WorkloadName &name);
Status check_content(const StoredMeasurement &stored);
Status check_content(const StoredTrial &stored);
Status check_content(const Race &race);
Status check_content(const Record &record);

// A race has at least two entries, each with samples, none with more rounds than the winner.
Status check_race(const Race &race);

struct RecordCounts {
    int64_t names = 0, measurements = 0, trials = 0, races = 0;
    bool operator==(const RecordCounts &) const = default;
    void add(const Record &record);
};

}  // namespace kiln
