// The queries behind `kiln query best|trials|workloads|failures|races`. Columns in nanoseconds end in _ns, in
// microseconds in _us; a rate counts the operations of the direct method. The views they read are in schema.sql.
#pragma once

namespace kiln {

extern const char *const best_report;
extern const char *const trials_report;
extern const char *const workloads_report;
extern const char *const failures_report;
extern const char *const races_report;

// Behind `kiln db info`: facts about the file, one a row.
extern const char *const info_report;

}  // namespace kiln
