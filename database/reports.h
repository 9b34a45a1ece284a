// The queries behind `kiln query best|trials|workloads|failures|races|networks`. Columns in nanoseconds end in _ns, in
// microseconds in _us; a rate counts the operations of the direct method. The views they read are in schema*.sql.
//
// Sorting, choosing and cutting happen in SQLite: a database may have millions of trials, an answer has a few rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "database/table.h"
#include "workload/result.h"

namespace kiln {

class Connection;

enum class ReportKind { best, trials, workloads, failures, races, networks };

struct ReportRequest {
    ReportKind kind = ReportKind::best;
    std::optional<std::vector<std::string>> workloads = {};  // only rows of these keys, or of these networks
    std::string sort = "";                                   // a column; empty: the report's own order
    bool descending = false;
    std::optional<int64_t> top = {};  // so many rows
};

struct Report {
    Table table;
    int64_t rows = 0;  // as there would be without `top`
};

// Errors (usage): the report has no such column; the message lists those that it has.
Result<Report> read_report(const Connection &connection, const ReportRequest &request);

// A workload that was tuned or named, with its names in workload lists.
struct WorkloadNames {
    std::string key;
    std::vector<std::string> names;  // "list/name"
};
Result<std::vector<WorkloadNames>> read_workload_names(const Connection &connection);

// Behind `kiln db info`: facts about the file, one a row.
extern const char *const info_report;

}  // namespace kiln
