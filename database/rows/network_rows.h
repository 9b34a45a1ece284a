// Times of networks as rows. They have no content id: they are the history of one machine's file, which merges and exports
// leave out.
#pragma once

#include <string>
#include <vector>

#include "database/sqlite.h"
#include "records/network_times.h"
#include "workload/result.h"

namespace kiln {

// Called inside a transaction.
Status insert_network_times(const Connection &connection, const NetworkTimes &times);

// Whether the file has such times at all: one of an older version has no table for them.
Result<bool> has_network_times(const Connection &connection);
Result<std::vector<std::string>> read_network_names(const Connection &connection);

}  // namespace kiln
