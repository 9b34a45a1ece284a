// The rows that records refer to by integer: workloads with their names, targets, machines, toolchains. Constant SQL,
// always bound; the tables are in schema.sql.
#pragma once

#include <string>

#include "database/sqlite.h"
#include "records/record.h"
#include "workload/result.h"

namespace kiln {

// The texts that a trial and a race have in common.
struct Context {
    const std::string &workload, &target;
    int threads;
    const std::string &machine, &toolchain;
};

// Called inside a transaction. Rows that are there already stay.
Status insert_machine(const Connection &connection, const std::string &key);
Status insert_target(const Connection &connection, const std::string &halide, int threads);
Status insert_context(const Connection &connection, const Context &context);

// Inserts also the workload; or sets the count.
Status insert_workload_name(const Connection &connection, const WorkloadName &name);

}  // namespace kiln
