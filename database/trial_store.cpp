#include "database/trial_store.h"

#include <fmt/format.h>

#include "database/database_file.h"
#include "database/reports.h"
#include "database/rows/context_rows.h"
#include "database/rows/network_rows.h"
#include "database/rows/race_rows.h"
#include "database/rows/trial_rows.h"
#include "database/trial_store_state.h"
#include "database/verify.h"
#include "records/content_id.h"
#include "records/sample_list.h"

namespace kiln {

namespace {

Status check(const Trial &trial, const std::optional<Measurement> &measurement) {
    if ((trial.status == TrialStatus::ok) != measurement.has_value()) {
        return bad_input(fmt::format("trial of {}: status is {}, so a measurement must {} be given", trial.candidate,
                                     name(trial.status), trial.status == TrialStatus::ok ? "also" : "not"));
    }
    if (!measurement) return {};
    if (!are_samples(measurement->samples)) {
        return bad_input(fmt::format("measurement of object {}: samples must be positive and finite, at least one",
                                     measurement->object_hash));
    }
    return {};
}

}  // namespace

TrialStore::TrialStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
TrialStore::TrialStore(TrialStore &&) noexcept = default;
TrialStore &TrialStore::operator=(TrialStore &&) noexcept = default;
TrialStore::~TrialStore() = default;

Result<TrialStore> TrialStore::open(const std::string &path, OpenMode mode) {
    Result<OpenedDatabase> opened = open_database(path, mode);
    if (!opened) return opened.error();
    return TrialStore(std::make_unique<State>(State{std::move(opened->connection), std::move(opened->notes)}));
}

Result<TrialStore> TrialStore::in_memory() {
    Result<Connection> connection = open_in_memory();
    if (!connection) return connection.error();
    return TrialStore(std::make_unique<State>(State{std::move(*connection), {}}));
}

void TrialStore::stop_when(std::function<bool()> interrupted) { state_->connection.stop_when(std::move(interrupted)); }

const std::vector<std::string> &TrialStore::notes() const { return state_->notes; }

Result<int64_t> TrialStore::state_of_others() const {
    const Result<Cell> version = state_->connection.query_value("PRAGMA data_version");
    if (!version) return version.error();
    return std::get<int64_t>(*version);
}

Result<std::string> TrialStore::append(const Trial &trial, const std::optional<Measurement> &measurement) {
    if (Status status = check(trial, measurement); !status) return status.error();
    const std::string measurement_id = measurement ? content_id(*measurement) : "";
    Trial stored = storable(trial);
    stored.id = content_id(stored, measurement_id);
    if (!trial.id.empty() && trial.id != stored.id) {
        return bad_input(
            fmt::format("trial {}: its content has the id {}; it was changed after it was made", trial.id, stored.id));
    }

    const Connection &connection = state_->connection;
    Result<Transaction> transaction = begin_writing(connection);
    if (!transaction) return transaction.error();
    const Result<Cell> known = connection.query_value("SELECT 1 FROM trial WHERE id = ?", {stored.id});
    if (!known) return known.error();
    if (*known != Cell()) return stored.id;
    if (measurement) {
        if (Status status = insert_measurement(connection, {measurement_id, *measurement}); !status)
            return status.error();
    }
    if (Status status = insert_trial(connection, {stored, measurement_id}); !status) return status.error();
    if (Status status = transaction->commit(); !status) return status.error();
    return stored.id;
}

Result<std::string> TrialStore::append(const Race &race) {
    if (Status status = check_race(race); !status) return status.error();
    Race stored = race;
    stored.id = content_id(race);
    if (!race.id.empty() && race.id != stored.id) {
        return bad_input(
            fmt::format("race {}: its content has the id {}; it was changed after it was made", race.id, stored.id));
    }
    const Connection &connection = state_->connection;
    Result<Transaction> transaction = begin_writing(connection);
    if (!transaction) return transaction.error();
    const Result<Cell> known = connection.query_value("SELECT 1 FROM race WHERE id = ?", {stored.id});
    if (!known) return known.error();
    if (*known != Cell()) return stored.id;
    if (Status status = insert_race(connection, stored); !status) return status.error();
    if (Status status = transaction->commit(); !status) return status.error();
    return stored.id;
}

Status TrialStore::append(const NetworkTimes &times) {
    Result<Transaction> transaction = begin_writing(state_->connection);
    if (!transaction) return transaction.error();
    if (Status status = insert_network_times(state_->connection, times); !status) return status;
    return transaction->commit();
}

Status TrialStore::name_workload(const std::string &key, const std::string &list, const std::string &name,
                                 int64_t count) {
    if (Status status = check_content(WorkloadName{key, list, name, count}); !status) return status;
    const Connection &connection = state_->connection;
    const Result<Cell> known = connection.query_value(
        "SELECT count FROM workload_name JOIN workload ON workload.id = workload_id WHERE key = ? AND list = ? AND "
        "name = ?",
        {key, list, name});
    if (!known) return known.error();
    if (*known == Cell(count)) return {};
    Result<Transaction> transaction = begin_writing(connection);
    if (!transaction) return transaction.error();
    if (Status status = insert_workload_name(connection, {key, list, name, count}); !status) return status;
    return transaction->commit();
}

Result<Report> TrialStore::report(const ReportRequest &request) const {
    return read_report(state_->connection, request);
}

Result<std::vector<WorkloadNames>> TrialStore::workload_names() const {
    return read_workload_names(state_->connection);
}

Result<std::vector<std::string>> TrialStore::network_names() const { return read_network_names(state_->connection); }

Result<Table> TrialStore::sql(const std::string &text) const { return state_->connection.query_untrusted(text); }

Result<Table> TrialStore::info() const {
    Result<Table> facts = state_->connection.query(info_report);
    if (!facts) return facts;
    facts->rows.insert(facts->rows.begin(), {Cell("file"), Cell(state_->connection.path())});
    const Result<std::string> content = digest();
    if (!content) return content.error();
    facts->rows.push_back({Cell("digest"), Cell(*content)});
    for (const std::string &note : state_->notes) facts->rows.push_back({Cell("note"), Cell(note)});
    return facts;
}

// What all messages about damage advise, and no others.
bool is_damage(const Error &error) {
    return error.code == ErrorCode::bad_input && error.message.find("restore a copy") != std::string::npos;
}

Status TrialStore::verify(const std::function<void()> &record_read) const {
    return kiln::verify(state_->connection, record_read);
}

}  // namespace kiln
