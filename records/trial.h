// The records that the database keeps, as plain values: a trial (one candidate built and judged) and a measurement
// (the times of one object hash on one machine). A failed trial is a row with a status and a message, never a large
// time; a trial has a measurement exactly when its status is ok.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/error_budget.h"

namespace kiln {

// Persistent names: explicit literals, frozen by a test, never positions of the enumeration.
enum class TrialStatus {
    ok,
    compile_error,
    compile_timeout,
    crash,
    timeout,
    out_of_memory,
    wrong_result,
    unstable,
    refused,
};
std::string_view name(TrialStatus status);
std::optional<TrialStatus> parse_trial_status(std::string_view text);

enum class CacheMode { warm, cold };  // cold: weights evicted before each call, activations warm
std::string_view name(CacheMode mode);
std::optional<CacheMode> parse_cache_mode(std::string_view text);

enum class Metric { ns, cycles, instructions };
std::string_view name(Metric metric);
std::optional<Metric> parse_metric(std::string_view text);

// The same by type, for code that visits fields (record_fields.h). False: the text is no name, the value is kept.
bool parse_name(std::string_view text, TrialStatus &value);
bool parse_name(std::string_view text, CacheMode &value);
bool parse_name(std::string_view text, Metric &value);

// How far a kernel's output was from the reference. `max` and `rms` are elementwise on ordinary data, relative to
// sum |x||k| (+ |bias| + |addend|); `wide` is the maximum on data of wide dynamic range, relative to the layer's
// largest such sum. Unset where the trial ended before the comparison. The database has no NaN and keeps one as
// infinity.
struct ErrorMeasures {
    std::optional<double> max, rms, wide;
    bool operator==(const ErrorMeasures &) const = default;
    // Precondition: `max` is set.
    bool within(double budget) const { return *max <= budget && wide.value_or(0) <= wide_error_factor * budget; }
};

struct Measurement {
    std::string object_hash;
    std::string machine;  // key(Machine)
    int threads = 1;
    CacheMode cache = CacheMode::warm;
    Metric metric = Metric::ns;
    std::vector<double> samples;  // one call each, in the order taken
    double median = 0;
    double spread = 0;       // interquartile range / median
    std::string conditions;  // JSON: load, frequency, steal time, ... as far as the machine tells
    std::string created_at;  // UTC, ISO 8601 with milliseconds
    bool operator==(const Measurement &) const = default;
};

struct Trial {
    std::string id;        // content id, 32 hex digits; append() computes it when empty
    std::string workload;  // key(Workload)
    std::string target;    // Target::halide
    int threads = 1;
    std::string machine;    // key(Machine) of the machine that judged it
    std::string toolchain;  // every compiler that had a hand in it: "kiln 0.1.0 halide 21.0.0 ld 2.40"
    std::string candidate;  // to_text(Candidate)
    std::string origin;     // who proposed it: "default", "random", ...
    TrialStatus status = TrialStatus::ok;
    std::string message;      // why it failed; empty when ok
    std::string stderr_text;  // what the compiler or the kernel's process printed, cut to 16 KiB
    double error_budget = 0;  // --max-error that it was judged against
    ErrorMeasures errors;
    std::string object_hash;  // empty when nothing was built
    std::optional<int64_t> object_bytes, packed_bytes;
    std::optional<int64_t> workspace_bytes, workspace_bytes_per_thread;  // arena peaks: calling thread, each worker
    std::optional<int64_t> build_ns, run_ns;                             // wall time spent
    CacheMode cache = CacheMode::warm;
    std::string created_at;  // UTC, ISO 8601 with milliseconds
    bool operator==(const Trial &) const = default;
};

}  // namespace kiln
