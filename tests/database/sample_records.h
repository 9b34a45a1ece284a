// A valid trial, measurement and race, for tests to change in one place.
#pragma once

#include <string>
#include <vector>

#include "records/race.h"
#include "records/trial.h"

namespace kiln {

inline Measurement sample_measurement(double median = 1500) {
    Measurement m;
    m.object_hash = "0123456789abcdef0123456789abcdef";
    m.machine = "AuthenticAMD-25-17-1/l1:32768/l2:1048576/l3:33554432/cores:2/AMD EPYC";
    m.samples = {median, median + 10.5, median - 0.25};
    m.median = median;
    m.spread = 0.01;
    m.conditions = R"({"load":0.5})";
    m.created_at = "2026-08-14T10:00:00.000Z";
    return m;
}

inline Trial sample_trial() {
    Trial t;
    t.workload = "conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1/epilogue:bias,relu";
    t.target = "x86-64-linux-avx-avx2-f16c-fma-sse41";
    t.machine = sample_measurement().machine;
    t.toolchain = "kiln 0.1.0 halide 21.0.0 ld 2.40";
    t.candidate = "direct@1/cpu_tile@1/pixels:14/vectors:2";
    t.origin = "default";
    t.error_budget = 1e-5;
    t.errors = {.max = 1e-7, .rms = 2e-8, .wide = 3e-8};
    t.object_hash = sample_measurement().object_hash;
    t.object_bytes = 20000;
    t.packed_bytes = 147456;
    t.workspace_bytes = 4096;
    t.workspace_bytes_per_thread = 1024;
    t.build_ns = 900'000'000;
    t.run_ns = 300'000'000;
    t.created_at = "2026-08-14T10:00:01.000Z";
    return t;
}

inline Trial sample_failure(TrialStatus status = TrialStatus::crash) {
    Trial t = sample_trial();
    t.status = status;
    t.message = "killed by signal 11";
    t.errors = {};
    t.object_hash.clear();
    t.object_bytes = t.packed_bytes = t.workspace_bytes = t.workspace_bytes_per_thread = t.run_ns = std::nullopt;
    return t;
}

// Another candidate with another object, so that it has a measurement of its own.
struct Sample {
    Trial trial;
    Measurement measurement;
};
inline Sample sample(char digit, double median) {
    Sample s{sample_trial(), sample_measurement(median)};
    s.trial.candidate = std::string("direct@1/cpu_tile@1/pixels:") + digit;
    s.trial.object_hash = s.measurement.object_hash = std::string(32, digit);
    return s;
}

// Between trials like sample_trial(), by id, the winner first.
inline Race sample_race(const std::vector<std::string> &ranking) {
    const Trial t = sample_trial();
    Race r;
    r.workload = t.workload;
    r.target = t.target;
    r.machine = t.machine;
    r.toolchain = t.toolchain;
    r.error_budget = t.error_budget;
    r.conditions = R"({"load":0.5})";
    r.created_at = "2026-08-20T00:00:00.000Z";
    for (const std::string &trial : ranking) {
        const double ratio = 1 + 0.125 * static_cast<double>(r.entries.size());
        const double margin = r.entries.empty() ? 0 : 0.25;
        r.entries.push_back({trial, ratio, ratio - margin, ratio + margin, {100 * ratio, 100.5 * ratio}});
    }
    return r;
}

}  // namespace kiln
