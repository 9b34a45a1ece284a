// SQLite behind three owners: Connection, Statement, Transaction. Every error comes back as a Result whose message
// names the file, SQLite's reason and the way out; its code tells a file that is wrong (bad_input) from a machine that
// failed (environment).
//
// Waiting for another process is not an error: a connection waits for minutes before it gives up, and writers take the
// write lock at the start of their transaction (BEGIN IMMEDIATE), so that none can be refused half-way.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "database/open_mode.h"
#include "database/table.h"
#include "workload/result.h"

struct sqlite3_stmt;

namespace kiln {

struct DatabaseHandle;

// A prepared statement with its parameters bound. Must not outlive its connection.
class Statement {
public:
    Result<bool> step();  // goes to the next row; false after the last one

    enum class Kind { null, integer, real, text, blob };

    int columns() const;
    std::string column_name(int column) const;
    Kind kind(int column) const;
    bool is_null(int column) const { return kind(column) == Kind::null; }
    Cell cell(int column) const;
    std::string text(int column) const;  // NULL is empty
    int64_t integer(int column) const;   // NULL is 0
    double real(int column) const;

private:
    friend class Connection;
    struct Release {
        DatabaseHandle *keeper;  // of the statement, for the next time; may be none
        void operator()(sqlite3_stmt *statement) const;
    };
    Statement(DatabaseHandle *database, sqlite3_stmt *statement, DatabaseHandle *keeper)
        : database_(database), statement_(statement, Release{keeper}) {}

    DatabaseHandle *database_;
    std::unique_ptr<sqlite3_stmt, Release> statement_;
};

class Connection {
public:
    static constexpr std::chrono::minutes default_patience{10};

    // ":memory:" is a database of its own that is gone with the connection. The file's content is neither read nor
    // changed yet; see read_file(). A `read_only` connection never writes, creates or deletes a file. So it cannot read
    // a file that a killed writer left half-written (was_left_half_written()), nor one with a write-ahead log.
    static Result<Connection> open(const std::string &path, OpenMode mode,
                                   std::chrono::milliseconds patience = default_patience);
    Connection(Connection &&) noexcept;
    Connection &operator=(Connection &&) noexcept;
    ~Connection();

    const std::string &path() const;  // as messages name it
    std::string file() const;         // without symbolic links: journals lie beside it; empty in memory
    void show_as(const std::string &path);

    // A long query ends with an error (interrupted) once this answers true.
    void stop_when(std::function<bool()> interrupted);

    // Bytes of the file as they are, fewer at its end, without locks and without looking at its journal. They go through
    // SQLite, because closing another descriptor of the file would drop this process's locks on it.
    Result<int64_t> file_size() const;
    Result<std::string> read_file(int64_t offset, int64_t most_bytes) const;

    // Whether a killed writer's transaction must be rolled back before this connection, which only reads, can read.
    Result<bool> was_left_half_written() const;

    // Keeps other connections from changing the file during `work`. Only before the first statement.
    Status while_unwritten(const std::function<Status()> &work) const;

    // One with parameters is kept for the next time, and so prepared once, however many records are merged.
    Result<Statement> prepare(std::string_view sql, const std::vector<Cell> &parameters = {}) const;
    Status run(std::string_view sql, const std::vector<Cell> &parameters = {}) const;  // one statement, its rows unused
    Status run_script(const std::string &sql) const;                                   // any number of statements
    Result<Table> query(std::string_view sql, const std::vector<Cell> &parameters = {}) const;
    Result<Cell> query_value(std::string_view sql,
                             const std::vector<Cell> &parameters = {}) const;  // first cell or NULL

    // A text that a user wrote: exactly one statement that only reads this database; anything else is refused.
    Result<Table> query_untrusted(const std::string &sql) const;

private:
    explicit Connection(std::unique_ptr<DatabaseHandle> database);
    std::unique_ptr<DatabaseHandle> database_;
};

// Rolled back unless committed. Must not outlive its connection.
class Transaction {
public:
    static Result<Transaction> begin(const Connection &connection);  // BEGIN IMMEDIATE: may write
    // Sees one state of the file, and keeps writers from committing until it ends. The state is that of the first
    // query.
    static Result<Transaction> begin_reading(const Connection &connection);
    Transaction(Transaction &&other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
    Transaction &operator=(Transaction &&) = delete;
    ~Transaction();

    Status commit();  // durable when it answers ok

private:
    explicit Transaction(const Connection &connection) : connection_(&connection) {}
    const Connection *connection_;
};

}  // namespace kiln
