#include "records/record.h"

#include <fmt/format.h>

#include "records/content_id.h"
#include "records/sample_list.h"

namespace kiln {
namespace {

std::string title_of(const WorkloadName &name) { return fmt::format("workload_name {}/{}", name.list, name.name); }
std::string title_of(const StoredMeasurement &stored) { return "measurement " + stored.id; }
std::string title_of(const StoredTrial &stored) { return "trial " + stored.trial.id; }
std::string title_of(const Race &race) { return "race " + race.id; }

bool is_whole(const WorkloadName &) { return true; }  // has no id: nothing refers to it
bool is_whole(const StoredMeasurement &stored) { return content_id(stored.measurement) == stored.id; }
bool is_whole(const StoredTrial &stored) { return content_id(stored.trial, stored.measurement) == stored.trial.id; }
bool is_whole(const Race &race) { return content_id(race) == race.id; }

Status check_values(const WorkloadName &) { return {}; }
Status check_values(const StoredMeasurement &stored) {
    if (are_samples(stored.measurement.samples)) return {};
    return bad_input(title_of(stored) + ": samples must be positive and finite, at least one");
}
Status check_values(const StoredTrial &) { return {}; }
Status check_values(const Race &race) { return check_race(race); }

int64_t &count_for(RecordCounts &counts, const WorkloadName &) { return counts.names; }
int64_t &count_for(RecordCounts &counts, const StoredMeasurement &) { return counts.measurements; }
int64_t &count_for(RecordCounts &counts, const StoredTrial &) { return counts.trials; }
int64_t &count_for(RecordCounts &counts, const Race &) { return counts.races; }

}  // namespace

std::string title(const Record &record) {
    return std::visit([](const auto &value) { return title_of(value); }, record);
}

Status check_content(const Record &record) {
    if (!std::visit([](const auto &value) { return is_whole(value); }, record)) {
        return bad_input(title(record) + " was changed after it was made: its id is not that of its content");
    }
    return std::visit([](const auto &value) { return check_values(value); }, record);
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
