#include "database/rows/context_rows.h"

#include "workload/workload.h"

namespace kiln {
namespace {

// To read a key and to count its operations takes longer than to look it up, and a million trials may be of one workload.
Status insert_workload(const Connection &connection, const std::string &key) {
    const Result<Cell> known = connection.query_value("SELECT flops FROM workload WHERE key = ?", {key});
    if (!known) return known.error();
    if (*known != Cell()) return {};
    const Result<Workload> workload = parse_workload_key(key);
    const Cell flops = workload ? Cell(flop_count(*workload)) : Cell();
    return connection.run(
        "INSERT INTO workload (key, op, flops) VALUES (?, ?, ?) "
        "ON CONFLICT (key) DO UPDATE SET flops = excluded.flops WHERE flops IS NULL AND excluded.flops IS NOT NULL",
        {key, key.substr(0, key.find('/')), flops});
}

}  // namespace

Status insert_machine(const Connection &connection, const std::string &key) {
    return connection.run("INSERT INTO machine (key) VALUES (?) ON CONFLICT (key) DO NOTHING", {key});
}

Status insert_target(const Connection &connection, const std::string &halide, int threads) {
    return connection.run("INSERT INTO target (halide, threads) VALUES (?, ?) ON CONFLICT DO NOTHING",
                          {halide, int64_t{threads}});
}

Status insert_context(const Connection &connection, const Context &context) {
    if (Status status = insert_workload(connection, context.workload); !status) return status;
    if (Status status = insert_machine(connection, context.machine); !status) return status;
    if (Status status = insert_target(connection, context.target, context.threads); !status) return status;
    return connection.run("INSERT INTO toolchain (text) VALUES (?) ON CONFLICT (text) DO NOTHING", {context.toolchain});
}

Status insert_workload_name(const Connection &connection, const WorkloadName &n) {
    if (Status status = insert_workload(connection, n.workload); !status) return status;
    return connection.run(
        "INSERT INTO workload_name (workload_id, list, name, count) "
        "VALUES ((SELECT id FROM workload WHERE key = ?), ?, ?, ?) "
        "ON CONFLICT (workload_id, list, name) DO UPDATE SET count = excluded.count",
        {n.workload, n.list, n.name, n.count});
}

}  // namespace kiln
