// How trials and measurements become rows; they come back with read_row() (record_columns.h).
#pragma once

#include <string>

#include "database/rows/record_columns.h"
#include "database/sqlite.h"
#include "records/record.h"
#include "workload/result.h"

namespace kiln {

// The columns of the view `trials` for read_row<StoredTrial>(), and of `measurements` for a StoredMeasurement.
const std::string &trial_columns();
const std::string &measurement_columns();

// The trial as it will be read back: SQLite has no NaN (an output that is not a number is infinitely wrong) and no
// negative zero, and what the compiler printed is cut.
Trial storable(Trial trial);

// Called inside a transaction. They also insert the rows that the new row refers to. A measurement that is there
// already stays.
Status insert_measurement(const Connection &connection, const StoredMeasurement &stored);
Status insert_trial(const Connection &connection, const StoredTrial &stored);

}  // namespace kiln
