// The trial store: every trial that was ever made, in one SQLite file. docs/database.md describes the schema.
//
// append() is durable when it returns: a crash of the process or the machine afterwards loses nothing. Rows are never
// changed. One store is one connection and belongs to one thread; several processes may use one file, and waiting for
// each other never surfaces as an error.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "database/open_mode.h"
#include "database/reports.h"
#include "database/table.h"
#include "records/network_times.h"
#include "records/race.h"
#include "records/record.h"
#include "records/record_source.h"
#include "records/trial.h"
#include "workload/result.h"

namespace kiln {

// Whether opening or verifying found a file of kiln's that was cut or overwritten, and not one that is none or of another
// version.
bool is_damage(const Error &error);

// Empty fields do not restrict.
struct TrialFilter {
    std::string workload, target, machine, toolchain, candidate;
    std::optional<int> threads;
    std::optional<CacheMode> cache;
    std::optional<double> error_budget;
    std::optional<double> within_budget;  // ErrorMeasures::within, whatever the trial was judged against
};

// The answer of the view `best`: a trial and the measurement that ranks it.
struct Best {
    Trial trial;
    Measurement measurement;
    std::string evidence;  // "race" or "median"
};

class TrialStore {
public:
    static Result<TrialStore> open(const std::string &path, OpenMode mode);
    static Result<TrialStore> in_memory();  // empty, and gone with the store
    TrialStore(TrialStore &&) noexcept;
    TrialStore &operator=(TrialStore &&) noexcept;
    ~TrialStore();

    // A query that takes long ends with an error (interrupted) once this answers true. What is recorded is finished.
    void stop_when(std::function<bool()> interrupted);

    // Messages for the user: the file lies on a network file system, its mode was changed.
    const std::vector<std::string> &notes() const;

    // A number that changes whenever another connection, in this process or another, has changed the file.
    Result<int64_t> state_of_others() const;

    // Stores a trial and, exactly when its status is ok, its measurement. Answers the trial's id. A trial or
    // measurement that is already there by content is not stored twice; several trials may share a measurement.
    Result<std::string> append(const Trial &trial, const std::optional<Measurement> &measurement);

    // Stores a race between trials that are stored already. Answers the race's id; one that is already there by content
    // is not stored twice. From then on `best` answers its winner, until a later race.
    Result<std::string> append(const Race &race);

    // Stores times of a whole network. The same again is another run.
    Status append(const NetworkTimes &times);

    // Oldest first. Candidate and within_budget restrict nothing here.
    Result<std::vector<Race>> races(const TrialFilter &filter) const;

    // Oldest first; only those that came into this file after an earlier `last_arrival`.
    Result<std::vector<Trial>> trials(const TrialFilter &filter, int64_t after = 0) const;
    Result<int64_t> last_arrival() const;  // of all trials; 0 where there is none
    // Of these, those that are ok and whose very object did not fail in another trial of the workload: the view `usable`.
    Result<std::vector<Trial>> usable_trials(const TrialFilter &filter) const;
    Result<std::vector<std::string>> workloads_measured_in(Metric metric) const;  // keys
    Result<std::optional<Trial>> trial(const std::string &id) const;  // a unique prefix of at least 4 digits will do
    // The latest, where one object was measured more than once.
    Result<std::optional<Measurement>> measurement(const std::string &object_hash, const std::string &machine,
                                                   int threads, CacheMode cache, Metric metric) const;
    // The trial's own, by its whole id; nothing where it has none.
    Result<std::optional<Measurement>> measurement_of(const std::string &trial) const;
    // The fastest over what the filter leaves open. The winner of a race gives way only to a trial that would not have
    // raced with it, since it is faster by a tenth.
    Result<std::optional<Best>> best(const TrialFilter &filter) const;

    // Remembers that a workload list called a key by this name, with this many occurrences; for people, not for lookup.
    Status name_workload(const std::string &key, const std::string &list, const std::string &name, int64_t count);

    // Adds the records that this database does not have, and counts them, by source. All or nothing over all sources.
    // Their order does not matter, nor does the order of records in them, and adding again changes nothing.
    Result<std::vector<RecordCounts>> add(const std::vector<RecordSource> &sources);
    Result<RecordCounts> merge(const TrialStore &from);  // the records of one other database

    // The records of this database, in one order. Errors name the file. The source must not outlive the store.
    RecordSource source() const;

    // All of the database as text, a line at a time: the same records give the same text. Nothing is written where a
    // record was damaged. Ends once `write` answers false: then nobody reads on.
    Status write_export(const std::function<bool(std::string_view)> &write) const;
    Result<std::string> export_text() const;

    // 32 hex digits that name the recorded trials, measurements and races: the same in every database that has the same
    // ones, whatever their order. Names of workloads do not count.
    Result<std::string> digest() const;

    // The answers of `kiln query`, and the workloads that they are about.
    Result<Report> report(const ReportRequest &request) const;
    Result<std::vector<WorkloadNames>> workload_names() const;
    Result<std::vector<std::string>> network_names() const;  // of which there are times

    // A user's own query, one statement that only reads; anything else is refused.
    Result<Table> sql(const std::string &text) const;

    // `kiln db info`: facts about the file; `kiln db verify`: integrity_check, foreign keys, content ids. `record_read` is called
    // with each record.
    Result<Table> info() const;
    Status verify(const std::function<void()> &record_read = {}) const;

private:
    struct State;
    explicit TrialStore(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace kiln
