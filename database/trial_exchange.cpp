// Merge, export and import: a TrialStore exchanges records with other databases, as rows or as text.
#include <fmt/format.h>

#include "database/database_file.h"
#include "database/record_text.h"
#include "database/rows/record_rows.h"
#include "database/trial_store_state.h"
#include "records/content_id.h"

namespace kiln {
namespace {

// A page that had to leave the cache early would need the lock that keeps readers out, long before the commit: two
// processes that merge each other's files would wait for each other.
Result<Transaction> begin_merging(const Connection &connection) {
    if (Status status = connection.run("PRAGMA cache_spill = OFF"); !status) return status.error();
    return begin_writing(connection);
}

Status insert(const Connection &connection, const Record &record, RecordCounts *added) {
    const Result<bool> inserted = insert_record(connection, record);
    if (!inserted) return inserted.error();
    if (*inserted) added->add(record);
    return {};
}

}  // namespace

Result<RecordCounts> TrialStore::merge(const TrialStore &from) {
    if (&from == this) return RecordCounts();
    const Connection &connection = state_->connection;
    Result<Transaction> transaction = begin_merging(connection);
    if (!transaction) return transaction.error();
    RecordCounts added;
    {
        const Connection &source = from.state_->connection;
        Result<Transaction> snapshot = Transaction::begin_reading(source);
        if (!snapshot) return snapshot.error();
        const auto add = [&](const Record &record) -> Status {
            Status status = check_content(record);
            if (status) status = insert(connection, record, &added);
            if (status || status.error().code != ErrorCode::bad_input) return status;
            return bad_input(fmt::format("{}: {}", source.path(), status.error().message));
        };
        if (Status status = for_each_record(source, add); !status) return status.error();
    }  // nobody who writes to `from` has to wait for the commit
    if (Status status = transaction->commit(); !status) return status.error();
    return added;
}

Result<RecordCounts> TrialStore::add(const std::vector<Record> &records) {
    const Connection &connection = state_->connection;
    Result<Transaction> transaction = begin_merging(connection);
    if (!transaction) return transaction.error();
    RecordCounts added;
    for (const Record &record : records) {
        Status status = check_content(record);
        if (status) status = insert(connection, record, &added);
        if (!status) return status.error();
    }
    if (Status status = transaction->commit(); !status) return status.error();
    return added;
}

Result<std::string> TrialStore::export_text() const {
    Result<Transaction> snapshot = Transaction::begin_reading(state_->connection);
    if (!snapshot) return snapshot.error();
    std::string text = fmt::format("{}\n", export_head);
    Status status = for_each_record(state_->connection, [&](const Record &record) -> Status {
        if (Status whole = check_content(record); !whole) {
            return bad_input(fmt::format("{}: {}; restore a copy", state_->connection.path(), whole.error().message));
        }
        text += record_text(record);
        text += '\n';
        return {};
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
