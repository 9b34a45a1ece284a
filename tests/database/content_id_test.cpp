#include "records/content_id.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/database/sample_records.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln {
namespace {

std::string hash(const std::string &text) {
    const XXH128_hash_t value = XXH3_128bits(text.data(), text.size());
    return fmt::format("{:016x}{:016x}", value.high64, value.low64);
}

// Ids are in databases, manifests and exports: neither the text nor the hash may ever change.
TEST(ContentId, OfAMeasurementIsFrozen) {
    const std::string text =
        "kiln measurement 1\n"
        "object_hash:32:0123456789abcdef0123456789abcdef\n"
        "machine:69:AuthenticAMD-25-17-1/l1:32768/l2:1048576/l3:33554432/cores:2/AMD EPYC\n"
        "threads:1:1\n"
        "cache:4:warm\n"
        "metric:2:ns\n"
        "samples:48:409770000000000040979a00000000004097 6f0000000000\n"
        "median:16:4097700000000000\n"
        "spread:16:3f847ae147ae147b\n"
        "conditions:12:{\"load\":0.5}\n"
        "created_at:24:2026-08-14T10:00:00.000Z\n";
    std::string exact = text;
    exact.erase(exact.find("4097 6f") + 4, 1);  // the blank is there for the eye
    EXPECT_EQ(content_id(sample_measurement()), hash(exact));
    EXPECT_EQ(content_id(sample_measurement()), "8b86fa19736b559dddb29a3700270137");
}

TEST(ContentId, OfATrialIsFrozen) {
    Trial failure = sample_failure();
    failure.stderr_text = "two\nlines";
    const std::string text =
        "kiln trial 1\n"
        "workload:75:conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1/epilogue:bias,relu\n"
        "target:36:x86-64-linux-avx-avx2-f16c-fma-sse41\n"
        "threads:1:1\n"
        "machine:69:AuthenticAMD-25-17-1/l1:32768/l2:1048576/l3:33554432/cores:2/AMD EPYC\n"
        "toolchain:32:kiln 0.1.0 halide 21.0.0 ld 2.40\n"
        "candidate:39:direct@1/cpu_tile@1/pixels:14/vectors:2\n"
        "origin:7:default\n"
        "status:5:crash\n"
        "message:19:killed by signal 11\n"
        "stderr_text:9:two\nlines\n"
        "error_budget:16:3ee4f8b588e368f1\n"
        "build_ns:9:900000000\n"
        "cache:4:warm\n"
        "created_at:24:2026-08-14T10:00:01.000Z\n";
    EXPECT_EQ(content_id(failure, ""), hash(text));
    EXPECT_EQ(content_id(failure, ""), "88e5a712b0d4c1a9c3e8be8a35002428");
    EXPECT_EQ(content_id(sample_trial(), content_id(sample_measurement())), "863ce8c642d3c0b9bb2599387a2b65d4");
}

TEST(ContentId, OfARaceIsFrozen) {
    const std::string text =
        "kiln race 1\n"
        "workload:75:conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1/epilogue:bias,relu\n"
        "target:36:x86-64-linux-avx-avx2-f16c-fma-sse41\n"
        "threads:1:1\n"
        "machine:69:AuthenticAMD-25-17-1/l1:32768/l2:1048576/l3:33554432/cores:2/AMD EPYC\n"
        "toolchain:32:kiln 0.1.0 halide 21.0.0 ld 2.40\n"
        "cache:4:warm\n"
        "error_budget:16:3ee4f8b588e368f1\n"
        "metric:2:ns\n"
        "confidence:16:3fee666666666666\n"
        "conditions:12:{\"load\":0.5}\n"
        "created_at:24:2026-08-20T00:00:00.000Z\n"
        "trial:4:aaaa\n"
        "ratio:16:3ff0000000000000\n"
        "ratio_lo:16:3ff0000000000000\n"
        "ratio_hi:16:3ff0000000000000\n"
        "samples:32:40590000000000004059200000000000\n"
        "trial:4:bbbb\n"
        "ratio:16:3ff2000000000000\n"
        "ratio_lo:16:3fec000000000000\n"
        "ratio_hi:16:3ff6000000000000\n"
        "samples:32:405c200000000000405c440000000000\n";
    EXPECT_EQ(content_id(sample_race({"aaaa", "bbbb"})), hash(text));
    EXPECT_EQ(content_id(sample_race({"aaaa", "bbbb"})), "b6c954f2496c2ec23eb59f9cb4d9ce61");
}

TEST(ContentId, CoversEveryFieldButTheId) {
    const std::function<void(Trial &)> changes[] = {
        [](Trial &) {},
        [](Trial &t) { t.workload += "x"; },
        [](Trial &t) { t.target += "x"; },
        [](Trial &t) { t.threads = 2; },
        [](Trial &t) { t.machine += "x"; },
        [](Trial &t) { t.toolchain += "x"; },
        [](Trial &t) { t.candidate += "x"; },
        [](Trial &t) { t.origin += "x"; },
        [](Trial &t) { t.status = TrialStatus::crash; },
        [](Trial &t) { t.message = "x"; },
        [](Trial &t) { t.stderr_text = "x"; },
        [](Trial &t) { t.error_budget = 1e-4; },
        [](Trial &t) { t.errors.max = 0; },
        [](Trial &t) { t.errors.rms = 0; },
        [](Trial &t) { t.errors.wide = 0; },
        [](Trial &t) { t.errors.wide.reset(); },
        [](Trial &t) { t.object_hash += "x"; },
        [](Trial &t) { t.object_bytes = 1; },
        [](Trial &t) { t.packed_bytes = 1; },
        [](Trial &t) { t.workspace_bytes = 1; },
        [](Trial &t) { t.workspace_bytes_per_thread = 1; },
        [](Trial &t) { t.build_ns = 1; },
        [](Trial &t) { t.run_ns = 1; },
        [](Trial &t) { t.cache = CacheMode::cold; },
        [](Trial &t) { t.created_at = "x"; },
    };
    std::set<std::string> ids;
    for (const auto &change : changes) {
        Trial t = sample_trial();
        change(t);
        ids.insert(content_id(t, "m"));
        t.id = "anything";
        ids.insert(content_id(t, "m"));
    }
    ids.insert(content_id(sample_trial(), "n"));
    EXPECT_EQ(ids.size(), std::size(changes) + 1);

    const std::function<void(Measurement &)> measurement_changes[] = {
        [](Measurement &) {},
        [](Measurement &m) { m.object_hash += "x"; },
        [](Measurement &m) { m.machine += "x"; },
        [](Measurement &m) { m.threads = 2; },
        [](Measurement &m) { m.cache = CacheMode::cold; },
        [](Measurement &m) { m.metric = Metric::cycles; },
        [](Measurement &m) { m.samples.pop_back(); },
        [](Measurement &m) { m.samples[1] += 1e-9; },
        [](Measurement &m) { m.median = 1; },
        [](Measurement &m) { m.spread = 1; },
        [](Measurement &m) { m.conditions = "{}"; },
        [](Measurement &m) { m.created_at = "x"; },
    };
    ids.clear();
    for (const auto &change : measurement_changes) {
        Measurement m = sample_measurement();
        change(m);
        ids.insert(content_id(m));
    }
    EXPECT_EQ(ids.size(), std::size(measurement_changes));

    const std::function<void(Race &)> race_changes[] = {
        [](Race &) {},
        [](Race &r) { r.workload += "x"; },
        [](Race &r) { r.target += "x"; },
        [](Race &r) { r.threads = 2; },
        [](Race &r) { r.machine += "x"; },
        [](Race &r) { r.toolchain += "x"; },
        [](Race &r) { r.cache = CacheMode::cold; },
        [](Race &r) { r.error_budget = 1e-4; },
        [](Race &r) { r.metric = Metric::cycles; },
        [](Race &r) { r.confidence = 0.9; },
        [](Race &r) { r.conditions = "{}"; },
        [](Race &r) { r.created_at = "x"; },
        [](Race &r) { r.entries.pop_back(); },
        [](Race &r) { std::swap(r.entries[1], r.entries[2]); },
        [](Race &r) { r.entries[1].trial = "x"; },
        [](Race &r) { r.entries[1].ratio = 2; },
        [](Race &r) { r.entries[1].ratio_lo = 0.5; },
        [](Race &r) { r.entries[1].ratio_hi = 2; },
        [](Race &r) { r.entries[1].samples[1] = 1; },
    };
    ids.clear();
    for (const auto &change : race_changes) {
        Race r = sample_race({"a", "b", "c"});
        change(r);
        ids.insert(content_id(r));
        r.id = "anything";
        ids.insert(content_id(r));
    }
    EXPECT_EQ(ids.size(), std::size(race_changes));
}

}  // namespace
}  // namespace kiln
