#include "database/trial_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "records/sample_list.h"
#include "workload/workload.h"

namespace kiln {

const std::string_view trial_columns =
    "trials.trial, trials.workload, trials.target, trials.threads, trials.machine, trials.toolchain, trials.candidate, "
    "trials.origin, trials.status, trials.message, trials.stderr_text, trials.error_budget, trials.max_error, "
    "trials.rms_error, trials.wide_error, trials.object_hash, trials.object_bytes, trials.packed_bytes, "
    "trials.workspace_bytes, trials.workspace_bytes_per_thread, trials.build_ns, trials.run_ns, trials.cache, "
    "trials.created_at";

const std::string_view measurement_columns =
    "measurements.object_hash, measurements.machine, measurements.threads, measurements.cache, measurements.metric, "
    "measurements.samples, measurements.median, measurements.spread, measurements.conditions, measurements.created_at";

namespace {

constexpr size_t stderr_limit = 16 << 10;

Error unreadable(const std::string &id, std::string_view column, const std::string &text) {
    return bad_input(fmt::format("database row {}: `{}` is not a known {}", id, text, column));
}

double storable(double value) { return std::isnan(value) ? std::numeric_limits<double>::infinity() : value + 0.0; }
void make_storable(std::optional<double> &value) {
    if (value) value = storable(*value);
}

Cell cell(const std::optional<int64_t> &value) { return value ? Cell(*value) : Cell(); }
Cell cell(const std::optional<double> &value) { return value ? Cell(*value) : Cell(); }
Cell cell(std::string_view text) { return std::string(text); }
Cell null_if_empty(const std::string &text) { return text.empty() ? Cell() : Cell(text); }

Status insert_machine(const Connection &connection, const std::string &machine) {
    return connection.run("INSERT INTO machine (key) VALUES (?) ON CONFLICT (key) DO NOTHING", {machine});
}

}  // namespace

Result<Trial> read_trial(const Statement &row) {
    Trial t;
    int i = 0;
    t.id = row.text(i++);
    t.workload = row.text(i++);
    t.target = row.text(i++);
    t.threads = static_cast<int>(row.integer(i++));
    t.machine = row.text(i++);
    t.toolchain = row.text(i++);
    t.candidate = row.text(i++);
    t.origin = row.text(i++);
    const std::string status = row.text(i++);
    t.message = row.text(i++);
    t.stderr_text = row.text(i++);
    t.error_budget = row.real(i++);
    t.errors.max = row.optional_real(i++);
    t.errors.rms = row.optional_real(i++);
    t.errors.wide = row.optional_real(i++);
    t.object_hash = row.text(i++);
    t.object_bytes = row.optional_integer(i++);
    t.packed_bytes = row.optional_integer(i++);
    t.workspace_bytes = row.optional_integer(i++);
    t.workspace_bytes_per_thread = row.optional_integer(i++);
    t.build_ns = row.optional_integer(i++);
    t.run_ns = row.optional_integer(i++);
    const std::string cache = row.text(i++);
    t.created_at = row.text(i++);

    const auto known_status = parse_trial_status(status);
    if (!known_status) return unreadable(t.id, "status", status);
    const auto known_cache = parse_cache_mode(cache);
    if (!known_cache) return unreadable(t.id, "cache", cache);
    t.status = *known_status;
    t.cache = *known_cache;
    return t;
}

Result<Measurement> read_measurement(const Statement &row, int first_column) {
    Measurement m;
    int i = first_column;
    m.object_hash = row.text(i++);
    m.machine = row.text(i++);
    m.threads = static_cast<int>(row.integer(i++));
    const std::string cache = row.text(i++);
    const std::string metric = row.text(i++);
    const std::string samples = row.text(i++);
    m.median = row.real(i++);
    m.spread = row.real(i++);
    m.conditions = row.text(i++);
    m.created_at = row.text(i++);

    const auto known_cache = parse_cache_mode(cache);
    if (!known_cache) return unreadable(m.object_hash, "cache", cache);
    const auto known_metric = parse_metric(metric);
    if (!known_metric) return unreadable(m.object_hash, "metric", metric);
    m.cache = *known_cache;
    m.metric = *known_metric;
    auto list = parse_sample_list(samples);
    if (!list) return unreadable(m.object_hash, "list of samples", samples);
    m.samples = std::move(*list);
    return m;
}

Trial storable(Trial trial) {
    trial.stderr_text.resize(std::min(trial.stderr_text.size(), stderr_limit));
    trial.error_budget = storable(trial.error_budget);
    make_storable(trial.errors.max);
    make_storable(trial.errors.rms);
    make_storable(trial.errors.wide);
    return trial;
}

Status insert_workload(const Connection &connection, const std::string &key) {
    const Result<Workload> workload = parse_workload_key(key);
    const Cell flops = workload ? Cell(flop_count(*workload)) : Cell();
    return connection.run(
        "INSERT INTO workload (key, op, flops) VALUES (?, ?, ?) "
        "ON CONFLICT (key) DO UPDATE SET flops = excluded.flops WHERE flops IS NULL AND excluded.flops IS NOT NULL",
        {key, key.substr(0, key.find('/')), flops});
}

Status insert_measurement(const Connection &connection, const std::string &id, const Measurement &m) {
    if (Status status = insert_machine(connection, m.machine); !status) return status;
    return connection.run(
        "INSERT INTO measurement (id, object_hash, machine_id, threads, cache, metric, samples, median, spread, "
        "conditions, created_at) "
        "VALUES (?, ?, (SELECT id FROM machine WHERE key = ?), ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        {id, m.object_hash, m.machine, int64_t{m.threads}, cell(name(m.cache)), cell(name(m.metric)),
         sample_list_text(m.samples), m.median, m.spread, m.conditions, m.created_at});
}

Status insert_workload_name(const Connection &connection, const WorkloadName &n) {
    if (Status status = insert_workload(connection, n.workload); !status) return status;
    return connection.run(
        "INSERT INTO workload_name (workload_id, list, name, count) "
        "VALUES ((SELECT id FROM workload WHERE key = ?), ?, ?, ?) "
        "ON CONFLICT (workload_id, list, name) DO UPDATE SET count = excluded.count",
        {n.workload, n.list, n.name, n.count});
}

Status insert_context(const Connection &connection, const Context &context) {
    if (Status status = insert_workload(connection, context.workload); !status) return status;
    if (Status status = insert_machine(connection, context.machine); !status) return status;
    if (Status status = connection.run("INSERT INTO target (halide, threads) VALUES (?, ?) ON CONFLICT DO NOTHING",
                                       {context.target, int64_t{context.threads}});
        !status) {
        return status;
    }
    return connection.run("INSERT INTO toolchain (text) VALUES (?) ON CONFLICT (text) DO NOTHING", {context.toolchain});
}

Status insert_trial(const Connection &connection, const Trial &t, const std::string &measurement_id) {
    if (Status status = insert_context(connection, {t.workload, t.target, t.threads, t.machine, t.toolchain}); !status)
        return status;
    return connection.run(
        "INSERT INTO trial (id, workload_id, target_id, machine_id, toolchain_id, candidate, origin, status, message, "
        "stderr_text, error_budget, max_error, rms_error, wide_error, object_hash, object_bytes, packed_bytes, "
        "workspace_bytes, workspace_bytes_per_thread, build_ns, run_ns, cache, measurement_id, created_at) "
        "VALUES (?, (SELECT id FROM workload WHERE key = ?), (SELECT id FROM target WHERE halide = ? AND threads = ?), "
        "(SELECT id FROM machine WHERE key = ?), (SELECT id FROM toolchain WHERE text = ?), "
        "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {t.id,
         t.workload,
         t.target,
         int64_t{t.threads},
         t.machine,
         t.toolchain,
         t.candidate,
         t.origin,
         cell(name(t.status)),
         t.message,
         t.stderr_text,
         t.error_budget,
         cell(t.errors.max),
         cell(t.errors.rms),
         cell(t.errors.wide),
         null_if_empty(t.object_hash),
         cell(t.object_bytes),
         cell(t.packed_bytes),
         cell(t.workspace_bytes),
         cell(t.workspace_bytes_per_thread),
         cell(t.build_ns),
         cell(t.run_ns),
         cell(name(t.cache)),
         null_if_empty(measurement_id),
         t.created_at});
}

}  // namespace kiln
