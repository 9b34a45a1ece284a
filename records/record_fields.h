// The fields of each kind of record, one row a field. A field's row gives it a place in exports
// (database/record_text.h) and in the text of the content id (content_text.h), and a column in the database
// (database/rows/record_columns.h). So a new field is a member of its struct with a row here, and a step of the schema.
// A field that is not `required` leaves the texts and ids of records without it as they are.
//
// `fields(name, member, presence)` is called for each, in the order of exports. The column has the same name.
#pragma once

#include <concepts>
#include <type_traits>

#include "records/record.h"

namespace kiln {

// How a field without a value is written. Exports and content ids leave it out.
enum class Presence {
    required,  // there always is a value
    or_empty,  // an empty text
    or_null,   // NULL in its column; an empty text or nothing in the struct
};

template<typename T, typename Value>
concept Is = std::same_as<std::remove_const_t<T>, Value>;

template<typename Fields, Is<WorkloadName> Value>
void visit_fields(Fields &fields, Value &n) {
    using enum Presence;
    fields("workload", n.workload, required);
    fields("list", n.list, required);
    fields("name", n.name, required);
    fields("count", n.count, required);
}

template<typename Fields, Is<StoredMeasurement> Value>
void visit_fields(Fields &fields, Value &stored) {
    using enum Presence;
    auto &m = stored.measurement;
    fields("id", stored.id, required);
    fields("created_at", m.created_at, required);
    fields("object_hash", m.object_hash, required);
    fields("machine", m.machine, required);
    fields("threads", m.threads, required);
    fields("cache", m.cache, required);
    fields("metric", m.metric, required);
    fields("median", m.median, required);
    fields("spread", m.spread, required);
    fields("samples", m.samples, required);
    fields("conditions", m.conditions, or_empty);
}

template<typename Fields, Is<StoredTrial> Value>
void visit_fields(Fields &fields, Value &stored) {
    using enum Presence;
    auto &t = stored.trial;
    fields("id", t.id, required);
    fields("created_at", t.created_at, required);
    fields("workload", t.workload, required);
    fields("target", t.target, required);
    fields("threads", t.threads, required);
    fields("cache", t.cache, required);
    fields("error_budget", t.error_budget, required);
    fields("candidate", t.candidate, required);
    fields("origin", t.origin, or_empty);
    fields("status", t.status, required);
    fields("message", t.message, or_empty);
    fields("stderr_text", t.stderr_text, or_empty);
    fields("max_error", t.errors.max, or_null);
    fields("rms_error", t.errors.rms, or_null);
    fields("wide_error", t.errors.wide, or_null);
    fields("object_hash", t.object_hash, or_null);
    fields("object_bytes", t.object_bytes, or_null);
    fields("packed_bytes", t.packed_bytes, or_null);
    fields("workspace_bytes", t.workspace_bytes, or_null);
    fields("workspace_bytes_per_thread", t.workspace_bytes_per_thread, or_null);
    fields("build_ns", t.build_ns, or_null);
    fields("run_ns", t.run_ns, or_null);
    fields("measurement", stored.measurement, or_null);
    fields("toolchain", t.toolchain, required);
    fields("machine", t.machine, required);
}

template<typename Fields, Is<RaceEntry> Value>
void visit_fields(Fields &fields, Value &entry) {
    using enum Presence;
    fields("trial", entry.trial, required);
    fields("ratio", entry.ratio, required);
    fields("ratio_lo", entry.ratio_lo, required);
    fields("ratio_hi", entry.ratio_hi, required);
    fields("samples", entry.samples, required);
}

template<typename Fields, Is<Race> Value>
void visit_fields(Fields &fields, Value &r) {
    using enum Presence;
    fields("id", r.id, required);
    fields("created_at", r.created_at, required);
    fields("workload", r.workload, required);
    fields("target", r.target, required);
    fields("threads", r.threads, required);
    fields("cache", r.cache, required);
    fields("error_budget", r.error_budget, required);
    fields("metric", r.metric, required);
    fields("confidence", r.confidence, required);
    fields("conditions", r.conditions, or_empty);
    fields("entries", r.entries, required);
    fields("toolchain", r.toolchain, required);
    fields("machine", r.machine, required);
}

}  // namespace kiln
