// Reads all records of a database in one order, and puts a record into a database. Merge, export and import share it.
#pragma once

#include <functional>

#include "database/sqlite.h"
#include "records/record.h"
#include "workload/result.h"

namespace kiln {

// Hands every record to `visit`: first names, ordered by their texts, then measurements, trials and races, each kind by
// created_at and id. The order is the same for the same records in any file. Ends at the first error of `visit` or of a
// row that cannot be read. To see one state of the file, call it inside a transaction.
Status for_each_record(const Connection &connection, const std::function<Status(const Record &)> &visit);

// Called inside a transaction that may write. Answers whether that changed anything: a record that is there already by
// content does not, nor does a name with a count that is not larger.
Result<bool> insert_record(const Connection &connection, const Record &record);

}  // namespace kiln
