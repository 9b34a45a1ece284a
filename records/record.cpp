#include "records/record.h"

#include <fmt/format.h>

#include "records/content_id.h"
#include "records/record_values.h"
#include "records/sample_list.h"

namespace kiln {
namespace {

// An id or a name from outside may be of any length.
std::string shortened(const std::string &text) { return text.size() <= 100 ? text : text.substr(0, 100) + "..."; }

// The values come first: a record without an id was never changed.
template<typename Stored>
Status check(const Stored &record, const std::string &id, const std::string &content_id) {
    if (Status status = check_values(record); !status) return status;
    if (id == content_id) return {};
    return bad_input(title(record) + " was changed after it was made: its id is not that of its content");
}

int64_t &count_for(RecordCounts &counts, const WorkloadName &) { return counts.names; }
int64_t &count_for(RecordCounts &counts, const StoredMeasurement &) { return counts.measurements; }
int64_t &count_for(RecordCounts &counts, const StoredTrial &) { return counts.trials; }
int64_t &count_for(RecordCounts &counts, const Race &) { return counts.races; }

}  // namespace

std::string title(const WorkloadName &name) {
    return fmt::format("workload_name {}/{}", shortened(name.list), shortened(name.name));
}
std::string title(const StoredMeasurement &stored) { return "measurement " + shortened(stored.id); }
std::string title(const StoredTrial &stored) { return "trial " + shortened(stored.trial.id); }
std::string title(const Race &race) { return "race " + shortened(race.id); }
std::string title(const Record &record) {
    return std::visit([](const auto &value) { return title(value); }, record);
}

Status check_content(const WorkloadName &name) { return check_values(name); }
Status check_content(const StoredMeasurement &stored) {
    return check(stored, stored.id, content_id(stored.measurement));
}
Status check_content(const StoredTrial &stored) {
    return check(stored, stored.trial.id, content_id(stored.trial, stored.measurement));
}
Status check_content(const Race &race) { return check(race, race.id, content_id(race)); }
Status check_content(const Record &record) {
    return std::visit([](const auto &value) { return check_content(value); }, record);
}

Status check_race(const Race &race) {
    if (race.entries.size() < 2) return bad_input("race of " + race.workload + ": needs at least two entries");
    for (const RaceEntry &entry : race.entries) {
        if (!are_samples(entry.samples) || entry.samples.size() > race.entries.front().samples.size()) {
            return bad_input(
                fmt::format("race of {}: samples of trial {} must be positive and finite, at least one, and no more "
                            "than the winner's",
                            race.workload, entry.trial));
        }
    }
    return {};
}

void RecordCounts::add(const Record &record) {
    std::visit([this](const auto &value) { ++count_for(*this, value); }, record);
}

}  // namespace kiln
