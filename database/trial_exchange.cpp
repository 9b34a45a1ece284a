// Merge, export and import: a TrialStore exchanges records with other databases, as rows or as text.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "database/database_file.h"
#include "database/record_text.h"
#include "database/rows/record_rows.h"
#include "database/trial_store_state.h"
#include "records/content_id.h"

namespace kiln {
namespace {

Error in_source(const std::string &source, const Error &error) {
    if (error.code != ErrorCode::bad_input) return error;
    return {error.code, fmt::format("{}: {}", source, error.message)};
}

// Adds records from several sources in one transaction. A record may come before another one that it refers to: it waits
// until all sources were read.
class Adding {
public:
    Adding(const Connection &connection, size_t sources) : connection_(connection), counts_(sources) {}

    Status add(size_t source, const Record &record) {
        const Result<Insertion> inserted = insert_record(connection_, record);
        if (!inserted) return inserted.error();
        if (inserted->kind == Insertion::Kind::added) counts_[source].add(record);
        if (inserted->kind == Insertion::Kind::waiting) waiting_.emplace_back(source, record);
        return {};
    }

    Status add_waiting(const std::vector<RecordSource> &sources) {
        std::ranges::stable_sort(waiting_, {}, [](const auto &waiting) { return waiting.second.index(); });
        for (const auto &[source, record] : waiting_) {
            const Result<Insertion> inserted = insert_record(connection_, record);
            if (!inserted) return in_source(sources[source].name, inserted.error());
            if (inserted->kind == Insertion::Kind::added) counts_[source].add(record);
            if (inserted->kind != Insertion::Kind::waiting) continue;
            return bad_input(fmt::format("{}: {}: it refers to {}, which is missing", sources[source].name,
                                         title(record), inserted->reference));
        }
        return {};
    }

    const std::vector<RecordCounts> &counts() const { return counts_; }

private:
    const Connection &connection_;
    std::vector<RecordCounts> counts_;
    std::vector<std::pair<size_t, Record>> waiting_;
};

}  // namespace

// A page that had to leave the cache early would need the lock that keeps readers out, long before the commit: two
// processes that merge each other's files would wait for each other.
Result<std::vector<RecordCounts>> TrialStore::add(const std::vector<RecordSource> &sources) {
    const Connection &connection = state_->connection;
    if (Status status = connection.run("PRAGMA cache_spill = OFF"); !status) return status.error();
    Result<Transaction> transaction = begin_writing(connection);
    if (!transaction) return transaction.error();
    Adding adding(connection, sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
        Status status = sources[i].for_each([&](const Record &record) { return adding.add(i, record); });
        if (!status) return status.error();
    }
    if (Status status = adding.add_waiting(sources); !status) return status.error();
    if (Status status = transaction->commit(); !status) return status.error();
    return adding.counts();
}

Result<RecordCounts> TrialStore::merge(const TrialStore &from) {
    if (&from == this) return RecordCounts();
    Result<std::vector<RecordCounts>> added = add({from.source()});
    if (!added) return added.error();
    return added->front();
}

// The snapshot ends with the source's records, so nobody who writes to it has to wait for a commit elsewhere.
RecordSource TrialStore::source() const {
    const Connection &connection = state_->connection;
    return {connection.path(), [&connection](const std::function<Status(const Record &)> &visit) -> Status {
                Result<Transaction> snapshot = Transaction::begin_reading(connection);
                if (!snapshot) return snapshot.error();
                const auto checked = [&](const Record &record) {
                    Status status = check_content(record);
                    return status ? visit(record) : status;
                };
                const Status status = for_each_record(connection, checked);
                return status ? status : in_source(connection.path(), status.error());
            }};
}

Status TrialStore::write_export(const std::function<bool(std::string_view)> &write) const {
    const RecordSource records = source();
    const Status whole = records.for_each([](const Record &) { return Status(); });
    if (!whole) return Error{whole.error().code, whole.error().message + "; restore a copy"};
    bool is_read = write(export_head) && write("\n");
    if (!is_read) return {};
    const Status written = records.for_each([&](const Record &record) -> Status {
        is_read = write(record_text(record)) && write("\n");
        return is_read ? Status() : Error{ErrorCode::interrupted, "nobody reads on"};
    });
    return is_read ? written : Status();
}

Result<std::string> TrialStore::export_text() const {
    std::string text;
    const Status status = write_export([&](std::string_view part) {
        text += part;
        return true;
    });
    if (!status) return status.error();
    return text;
}

Result<std::string> TrialStore::digest() const {
    Result<Statement> rows = state_->connection.prepare(
        "SELECT id FROM measurement UNION ALL SELECT id FROM trial UNION ALL SELECT id FROM race ORDER BY id", {});
    if (!rows) return rows.error();
    std::vector<std::string> ids;
    for (;;) {
        const Result<bool> row = rows->step();
        if (!row) return row.error();
        if (!*row) return digest_of_ids(ids);
        ids.push_back(rows->text(0));
    }
}

}  // namespace kiln
