// How trials and measurements become rows and come back. Constant SQL, always bound; the tables are in schema.sql.
#pragma once

#include <string>
#include <string_view>

#include "database/sqlite.h"
#include "records/record.h"
#include "records/trial.h"
#include "workload/result.h"

namespace kiln {

// What to select from the view `trials` for read_trial(), and from `measurements` for read_measurement().
extern const std::string_view trial_columns;
constexpr int trial_column_count = 24;
extern const std::string_view measurement_columns;
constexpr int measurement_column_count = 10;

Result<Trial> read_trial(const Statement &row);  // from column 0 on
Result<Measurement> read_measurement(const Statement &row, int first_column);

// The trial as it will be read back: SQLite has no NaN (an output that is not a number is infinitely wrong) and no
// negative zero, and what the compiler printed is cut.
Trial storable(Trial trial);

// What trials and races have in common and refer to by integer.
struct Context {
    const std::string &workload, &target;
    int threads;
    const std::string &machine, &toolchain;
};

// Called inside a transaction. Insert also what the row refers to; what is there already stays.
Status insert_workload(const Connection &connection, const std::string &key);
Status insert_workload_name(const Connection &connection, const WorkloadName &name);  // or sets the count
Status insert_context(const Connection &connection, const Context &context);
Status insert_measurement(const Connection &connection, const std::string &id, const Measurement &measurement);
Status insert_trial(const Connection &connection, const Trial &trial, const std::string &measurement_id);

}  // namespace kiln
