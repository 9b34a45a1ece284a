// The fields of a record in its text, in order: one list for writing and reading. `fields(name, member, required)` is
// called for each; a field that is not required is left out of the text where it is unset, empty or 0.
#pragma once

#include "records/record.h"

namespace kiln {

template<typename Fields>
void visit_fields(Fields &fields, WorkloadName &n) {
    fields("workload", n.workload, true);
    fields("list", n.list, true);
    fields("name", n.name, true);
    fields("count", n.count, true);
}

template<typename Fields>
void visit_fields(Fields &fields, StoredMeasurement &stored) {
    Measurement &m = stored.measurement;
    fields("id", stored.id, true);
    fields("created_at", m.created_at, true);
    fields("object_hash", m.object_hash, true);
    fields("machine", m.machine, true);
    fields("threads", m.threads, true);
    fields("cache", m.cache, true);
    fields("metric", m.metric, true);
    fields("median", m.median, true);
    fields("spread", m.spread, true);
    fields("samples", m.samples, true);
    fields("conditions", m.conditions, false);
}

template<typename Fields>
void visit_fields(Fields &fields, StoredTrial &stored) {
    Trial &t = stored.trial;
    fields("id", t.id, true);
    fields("created_at", t.created_at, true);
    fields("workload", t.workload, true);
    fields("target", t.target, true);
    fields("threads", t.threads, true);
    fields("cache", t.cache, true);
    fields("error_budget", t.error_budget, true);
    fields("candidate", t.candidate, true);
    fields("origin", t.origin, false);
    fields("status", t.status, true);
    fields("message", t.message, false);
    fields("stderr_text", t.stderr_text, false);
    fields("max_error", t.errors.max, false);
    fields("rms_error", t.errors.rms, false);
    fields("wide_error", t.errors.wide, false);
    fields("object_hash", t.object_hash, false);
    fields("object_bytes", t.object_bytes, false);
    fields("packed_bytes", t.packed_bytes, false);
    fields("workspace_bytes", t.workspace_bytes, false);
    fields("workspace_bytes_per_thread", t.workspace_bytes_per_thread, false);
    fields("build_ns", t.build_ns, false);
    fields("run_ns", t.run_ns, false);
    fields("measurement", stored.measurement, false);
    fields("toolchain", t.toolchain, true);
    fields("machine", t.machine, true);
}

template<typename Fields>
void visit_fields(Fields &fields, RaceEntry &entry) {
    fields("trial", entry.trial, true);
    fields("ratio", entry.ratio, true);
    fields("ratio_lo", entry.ratio_lo, true);
    fields("ratio_hi", entry.ratio_hi, true);
    fields("samples", entry.samples, true);
}

template<typename Fields>
void visit_fields(Fields &fields, Race &r) {
    fields("id", r.id, true);
    fields("created_at", r.created_at, true);
    fields("workload", r.workload, true);
    fields("target", r.target, true);
    fields("threads", r.threads, true);
    fields("cache", r.cache, true);
    fields("error_budget", r.error_budget, true);
    fields("metric", r.metric, true);
    fields("confidence", r.confidence, true);
    fields("conditions", r.conditions, false);
    fields("entries", r.entries, true);
    fields("toolchain", r.toolchain, true);
    fields("machine", r.machine, true);
}

}  // namespace kiln
