// Reads all records of a database in one order, and puts a record into a database. Merge, export and import share it.
#pragma once

#include <functional>
#include <string>

#include "database/sqlite.h"
#include "records/record.h"
#include "workload/result.h"

namespace kiln {

// Hands every record to `visit`: first names, ordered by their texts, then measurements, trials and races, each kind by
// created_at and id. The order is the same for the same records in any file. Ends at the first error of `visit` or of a
// row that cannot be read. To see one state of the file, call it inside a transaction.
Status for_each_record(const Connection &connection, const std::function<Status(const Record &)> &visit);

// What became of a record.
struct Insertion {
    enum class Kind {
        added,
        known,   // it is there already by content, or it is a name whose count is not larger
        waiting  // it was not inserted, because it refers to a record that is not there
    };
    Kind kind = Kind::known;
    std::string reference = "";  // the id of the record that is not there
};

// Called inside a transaction that may write.
Result<Insertion> insert_record(const Connection &connection, const Record &record);

}  // namespace kiln
