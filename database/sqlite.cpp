#include "database/sqlite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "database/sqlite_handle.h"

namespace kiln {
namespace {

// Says which actions a user's query may take. sqlite3_stmt_readonly() alone would let ATTACH and PRAGMA through, which
// open other files and change the connection.
int authorize_reading(void *, int action, const char *first, const char *, const char *, const char *) {
    static constexpr std::array<std::string_view, 6> reading_pragmas = {
        "foreign_key_list", "index_info", "index_list", "table_info", "table_list", "table_xinfo"};
    switch (action) {
        case SQLITE_SELECT:
        case SQLITE_READ:
        case SQLITE_FUNCTION:
        case SQLITE_RECURSIVE:
            return SQLITE_OK;
        case SQLITE_UPDATE:  // table-valued functions such as json_each ask for this
            return std::string_view(first) == "sqlite_master" ? SQLITE_OK : SQLITE_DENY;
        case SQLITE_PRAGMA:
            return std::ranges::count(reading_pragmas, std::string_view(first)) ? SQLITE_OK : SQLITE_DENY;
        default:
            return SQLITE_DENY;
    }
}

// The file below SQLite; nothing for a database in memory.
sqlite3_file *file_of(sqlite3 *db) {
    sqlite3_file *file = nullptr;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return file && file->pMethods ? file : nullptr;
}

int bind(sqlite3_stmt *statement, int index, const Cell &value) {
    if (const auto *integer = std::get_if<int64_t>(&value)) return sqlite3_bind_int64(statement, index, *integer);
    if (const auto *real = std::get_if<double>(&value)) return sqlite3_bind_double(statement, index, *real);
    if (const auto *text = std::get_if<std::string>(&value)) {
        return sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    }
    return sqlite3_bind_null(statement, index);
}

Result<Table> read_all(Statement &statement) {
    Table table;
    for (int i = 0; i < statement.columns(); ++i) table.columns.push_back(statement.column_name(i));
    for (;;) {
        Result<bool> row = statement.step();
        if (!row) return row.error();
        if (!*row) return table;
        auto &cells = table.rows.emplace_back();
        for (int i = 0; i < statement.columns(); ++i) cells.push_back(statement.cell(i));
    }
}

}  // namespace

void Statement::Release::operator()(sqlite3_stmt *statement) const {
    if (keeper) {
        keep(*keeper, statement);
    } else {
        sqlite3_finalize(statement);
    }
}

Result<bool> Statement::step() {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return explain(*database_, code);
}

int Statement::columns() const { return sqlite3_column_count(statement_.get()); }
std::string Statement::column_name(int column) const { return sqlite3_column_name(statement_.get(), column); }
Statement::Kind Statement::kind(int column) const {
    switch (sqlite3_column_type(statement_.get(), column)) {
        case SQLITE_INTEGER:
            return Kind::integer;
        case SQLITE_FLOAT:
            return Kind::real;
        case SQLITE_TEXT:
            return Kind::text;
        case SQLITE_BLOB:
            return Kind::blob;
        default:
            return Kind::null;
    }
}
int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::text(int column) const {
    const unsigned char *bytes = sqlite3_column_text(statement_.get(), column);
    if (!bytes) return {};
    return {reinterpret_cast<const char *>(bytes), static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Cell Statement::cell(int column) const {
    switch (kind(column)) {
        case Kind::integer:
            return integer(column);
        case Kind::real:
            return real(column);
        case Kind::text:
            return text(column);
        case Kind::blob: {
            const auto *bytes = static_cast<const unsigned char *>(sqlite3_column_blob(statement_.get(), column));
            std::string hex;
            for (int i = 0; i < sqlite3_column_bytes(statement_.get(), column); ++i)
                hex += fmt::format("{:02X}", bytes[i]);
            return hex;
        }
        case Kind::null:
            break;
    }
    return std::monostate();
}

Connection::Connection(std::unique_ptr<DatabaseHandle> database) : database_(std::move(database)) {}
Connection::Connection(Connection &&) noexcept = default;
Connection &Connection::operator=(Connection &&) noexcept = default;
Connection::~Connection() = default;

Result<Connection> Connection::open(const std::string &path, OpenMode mode, std::chrono::milliseconds patience) {
    auto database = std::make_unique<DatabaseHandle>();
    database->path = path;
    database->patience = patience;
    const bool writes = mode != OpenMode::read_only;
    const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                      (writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) |
                      (mode == OpenMode::create ? SQLITE_OPEN_CREATE : 0);
    if (Status status = open_handle(*database, path, flags); !status) return status.error();
    if (writes && sqlite3_db_readonly(database->db, "main") == 1) {
        return environment_error(path + ": cannot be written; make the file writable or name another");
    }
    return Connection(std::move(database));
}

const std::string &Connection::path() const { return database_->path; }
std::string Connection::file() const { return file_name(*database_); }
void Connection::show_as(const std::string &path) { database_->path = path; }
void Connection::stop_when(std::function<bool()> interrupted) { database_->interrupted = std::move(interrupted); }

Result<int64_t> Connection::file_size() const {
    sqlite3_file *file = file_of(database_->db);
    if (!file) return 0;
    sqlite3_int64 size = 0;
    if (const int code = file->pMethods->xFileSize(file, &size); code != SQLITE_OK) return explain(*database_, code);
    return size;
}

Result<std::string> Connection::read_file(int64_t offset, int64_t most_bytes) const {
    const Result<int64_t> size = file_size();
    if (!size) return size.error();
    std::string bytes(static_cast<size_t>(std::clamp<int64_t>(*size - offset, 0, most_bytes)), '\0');
    if (bytes.empty()) return bytes;
    sqlite3_file *file = file_of(database_->db);
    const int code = file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()), offset);
    if (code != SQLITE_OK) return explain(*database_, code);
    return bytes;
}

Result<bool> Connection::was_left_half_written() const {
    const Result<Statement> statement = prepare("PRAGMA user_version");
    if (!statement) return statement.error();
    const int code = sqlite3_step(statement->statement_.get());
    if (code == SQLITE_READONLY_ROLLBACK) return true;
    if (code != SQLITE_ROW) return explain(*database_, code);
    return false;
}

Status Connection::while_unwritten(const std::function<Status()> &work) const {
    sqlite3_file *file = file_of(database_->db);
    for (int calls = 0;; ++calls) {
        const int code = file->pMethods->xLock(file, SQLITE_LOCK_SHARED);
        if (code == SQLITE_OK) break;
        if (code != SQLITE_BUSY || !wait_for_lock(database_.get(), calls)) return explain(*database_, code);
    }
    Status status = work();
    file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
    return status;
}

Result<Statement> Connection::prepare(std::string_view sql, const std::vector<Cell> &parameters) const {
    // A PRAGMA may act while it is prepared, and a long list of values is not asked for again.
    constexpr size_t longest_kept = 4096;
    DatabaseHandle *keeper = parameters.empty() || sql.size() > longest_kept ? nullptr : database_.get();
    sqlite3_stmt *prepared = keeper ? take_kept(*keeper, sql) : nullptr;
    int code = SQLITE_OK;
    if (!prepared) {
        code = sqlite3_prepare_v3(database_->db, sql.data(), static_cast<int>(sql.size()),
                                  keeper ? SQLITE_PREPARE_PERSISTENT : 0, &prepared, nullptr);
    }
    if (code != SQLITE_OK) return explain(*database_, code);
    Statement statement(database_.get(), prepared, keeper);
    assert(sqlite3_bind_parameter_count(prepared) == static_cast<int>(parameters.size()));
    for (size_t i = 0; i < parameters.size(); ++i) {
        code = bind(prepared, static_cast<int>(i) + 1, parameters[i]);
        if (code != SQLITE_OK) return explain(*database_, code);
    }
    return statement;
}

Status Connection::run(std::string_view sql, const std::vector<Cell> &parameters) const {
    Result<Statement> statement = prepare(sql, parameters);
    if (!statement) return statement.error();
    for (;;) {
        Result<bool> row = statement->step();
        if (!row) return row.error();
        if (!*row) return {};
    }
}

Status Connection::run_script(const std::string &sql) const {
    const int code = sqlite3_exec(database_->db, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return explain(*database_, code);
    return {};
}

Result<Table> Connection::query(std::string_view sql, const std::vector<Cell> &parameters) const {
    Result<Statement> statement = prepare(sql, parameters);
    if (!statement) return statement.error();
    return read_all(*statement);
}

Result<Cell> Connection::query_value(std::string_view sql, const std::vector<Cell> &parameters) const {
    Result<Statement> statement = prepare(sql, parameters);
    if (!statement) return statement.error();
    Result<bool> row = statement->step();
    if (!row) return row.error();
    return *row ? statement->cell(0) : Cell();
}

Result<Table> Connection::query_untrusted(const std::string &sql) const {
    struct Authorizer {
        explicit Authorizer(sqlite3 *restricted) : db(restricted) {
            sqlite3_set_authorizer(db, authorize_reading, nullptr);
        }
        ~Authorizer() { sqlite3_set_authorizer(db, nullptr, nullptr); }
        sqlite3 *db;
    } authorizer(database_->db);

    if (sql.find('\0') != std::string::npos) return bad_input("the query contains a NUL character");
    std::optional<Statement> only;
    for (const char *text = sql.c_str(); *text != '\0';) {
        sqlite3_stmt *prepared = nullptr;
        const int code = sqlite3_prepare_v2(database_->db, text, -1, &prepared, &text);
        if (code != SQLITE_OK) {
            Error error = explain(*database_, code);
            if (code == SQLITE_ERROR) error.message += "; docs/database.md lists the tables and views";
            return error;
        }
        if (!prepared) continue;  // blanks or a comment
        Statement statement(database_.get(), prepared, nullptr);
        if (only) return bad_input("the query has more than one statement; ask one at a time");
        if (!sqlite3_stmt_readonly(prepared))
            return bad_input("the query writes; only a query that reads is allowed here");
        only.emplace(std::move(statement));
    }
    if (!only) return bad_input("the query is empty; docs/database.md has examples");
    return read_all(*only);
}

Result<Transaction> Transaction::begin(const Connection &connection) {
    if (Status status = connection.run("BEGIN IMMEDIATE"); !status) return status.error();
    return Transaction(connection);
}

Result<Transaction> Transaction::begin_reading(const Connection &connection) {
    if (Status status = connection.run("BEGIN"); !status) return status.error();
    return Transaction(connection);
}

Status Transaction::commit() {
    if (Status status = connection_->run("COMMIT"); !status) return status;
    connection_ = nullptr;
    return {};
}

Transaction::~Transaction() {
    // After some errors SQLite has rolled back by itself; that this then fails changes nothing.
    if (connection_) (void)connection_->run("ROLLBACK").ok();
}

}  // namespace kiln
