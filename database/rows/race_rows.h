// How races become rows and come back; beside trial_rows.h.
#pragma once

#include <string>

#include "database/sqlite.h"
#include "records/race.h"
#include "workload/result.h"

namespace kiln {

// "WITH races AS (...) SELECT ... FROM races": every race without its entries, with columns named as in the view
// `trials`; a WHERE may follow.
const std::string &select_races();

// The race in the current row of select_races(), with its entries, which are another query.
Result<Race> read_race(const Connection &connection, const Statement &row);

// Called inside a transaction. The entries' trials must be there; the schema checks that they fit.
Status insert_race(const Connection &connection, const Race &race);

}  // namespace kiln
