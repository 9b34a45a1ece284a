#include "records/content_id.h"

#include <fmt/format.h>

#include <bit>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln {
namespace {

// SQLite has no negative zero.
std::string bits(double value) { return fmt::format("{:016x}", std::bit_cast<uint64_t>(value + 0.0)); }

std::string hash_of(const std::string &text) {
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

class ContentText {
public:
    explicit ContentText(std::string_view head) : text_(head) { text_ += '\n'; }

    void add(std::string_view name, std::string_view value) {
        if (!value.empty()) fmt::format_to(std::back_inserter(text_), "{}:{}:{}\n", name, value.size(), value);
    }
    void add(std::string_view name, const std::optional<int64_t> &value) {
        if (value) add(name, fmt::to_string(*value));
    }
    void add(std::string_view name, const std::optional<double> &value) {
        if (value) add(name, bits(*value));
    }
    void add(std::string_view name, const std::vector<double> &values) {
        std::string all;
        for (double value : values) all += bits(value);
        add(name, all);
    }

    std::string id() const { return hash_of(text_); }

private:
    std::string text_;
};

}  // namespace

std::string content_id(const Measurement &m) {
    ContentText text("kiln measurement 1");
    text.add("object_hash", m.object_hash);
    text.add("machine", m.machine);
    text.add("threads", std::optional<int64_t>(m.threads));
    text.add("cache", name(m.cache));
    text.add("metric", name(m.metric));
    text.add("samples", m.samples);
    text.add("median", std::optional(m.median));
    text.add("spread", std::optional(m.spread));
    text.add("conditions", m.conditions);
    text.add("created_at", m.created_at);
    return text.id();
}

std::string content_id(const Trial &t, std::string_view measurement_id) {
    ContentText text("kiln trial 1");
    text.add("workload", t.workload);
    text.add("target", t.target);
    text.add("threads", std::optional<int64_t>(t.threads));
    text.add("machine", t.machine);
    text.add("toolchain", t.toolchain);
    text.add("candidate", t.candidate);
    text.add("origin", t.origin);
    text.add("status", name(t.status));
    text.add("message", t.message);
    text.add("stderr_text", t.stderr_text);
    text.add("error_budget", std::optional(t.error_budget));
    text.add("max_error", t.errors.max);
    text.add("rms_error", t.errors.rms);
    text.add("wide_error", t.errors.wide);
    text.add("object_hash", t.object_hash);
    text.add("object_bytes", t.object_bytes);
    text.add("packed_bytes", t.packed_bytes);
    text.add("workspace_bytes", t.workspace_bytes);
    text.add("workspace_bytes_per_thread", t.workspace_bytes_per_thread);
    text.add("build_ns", t.build_ns);
    text.add("run_ns", t.run_ns);
    text.add("cache", name(t.cache));
    text.add("measurement", measurement_id);
    text.add("created_at", t.created_at);
    return text.id();
}

std::string content_id(const Race &r) {
    ContentText text("kiln race 1");
    text.add("workload", r.workload);
    text.add("target", r.target);
    text.add("threads", std::optional<int64_t>(r.threads));
    text.add("machine", r.machine);
    text.add("toolchain", r.toolchain);
    text.add("cache", name(r.cache));
    text.add("error_budget", std::optional(r.error_budget));
    text.add("metric", name(r.metric));
    text.add("confidence", std::optional(r.confidence));
    text.add("conditions", r.conditions);
    text.add("created_at", r.created_at);
    for (const RaceEntry &entry : r.entries) {
        text.add("trial", entry.trial);
        text.add("ratio", std::optional(entry.ratio));
        text.add("ratio_lo", std::optional(entry.ratio_lo));
        text.add("ratio_hi", std::optional(entry.ratio_hi));
        text.add("samples", entry.samples);
    }
    return text.id();
}

std::string digest_of_ids(const std::vector<std::string> &ids) {
    std::string text = "kiln database 1\n";
    for (const std::string &id : ids) text += id + '\n';
    return hash_of(text);
}

}  // namespace kiln
