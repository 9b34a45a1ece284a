#include "tuner/runner/sentinel.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "records/measurement.h"
#include "tuner/runner/cache.h"
#include "tuner/runner/timing.h"

namespace kiln {

namespace {

constexpr size_t near_floats = 2048, far_bytes = 512 << 10, line_bytes = 64;

class Sentinel {
public:
    void run() {
        for (int pass = 0; pass < 64; pass++) {
            for (float &x : near_) {
                x = x * 0.9990234f + 1.1234567f;
            }
        }
        unsigned sum = 0;
        for (size_t i = 0; i < far_.size(); i += line_bytes) {
            sum += far_[i];
        }
        __asm__ volatile("" : : "r"(sum), "m"(near_));
    }

private:
    std::array<float, near_floats> near_{};
    std::vector<unsigned char> far_ = std::vector<unsigned char>(far_bytes, 1);
};

using Spans = std::vector<std::span<const std::byte>>;

constexpr size_t evicted_bytes = 4 << 20;

// The median of several passes: single ones are off by half. Fewer where a pass takes long.
struct Passes {
    int fewest, most;
    double enough_ns;
};
constexpr Passes near_passes{3, 7, 3e6}, far_passes{3, 7, 1e6};

Spans first(const Spans &spans, size_t bytes) {
    Spans result;
    for (const auto &span : spans) {
        const size_t taken = std::min(bytes, span.size());
        if (taken > 0) result.push_back(span.first(taken));
        bytes -= taken;
    }
    return result;
}

size_t size(const Spans &spans) {
    size_t bytes = 0;
    for (const auto &span : spans) bytes += span.size();
    return bytes;
}

// A load a line: all lines come, and the core has nothing else to do.
void walk_in_order(const Spans &spans) {
    unsigned sum = 0;
    for (const auto &span : spans) {
        for (size_t i = 0; i < span.size(); i += line_bytes) sum += unsigned(span[i]);
    }
    __asm__ volatile("" : : "r"(sum));
}

// The first line of each page, then the second of each, and so on: nothing is fetched ahead. So lines that a neighbour pushed
// out are waited for, as kernels wait that read many rows at once. A walk in order is as fast whoever else is there.
void walk_across_pages(const Spans &spans) {
    constexpr size_t page_bytes = 4096;
    unsigned sum = 0;
    for (size_t line = 0; line < page_bytes; line += line_bytes) {
        for (const auto &span : spans) {
            for (size_t i = line; i < span.size(); i += page_bytes) sum += unsigned(span[i]);
        }
    }
    __asm__ volatile("" : : "r"(sum));
}

double gb_s(const Spans &spans, const Passes &passes, const TimedCall &timed) {
    if (spans.empty()) return 0;
    UndisturbedSamples undisturbed(timed, 1, 10 * passes.enough_ns);
    Samples samples;
    double total_ns = 0;
    for (int i = 0; i < passes.most && (i < passes.fewest || total_ns < passes.enough_ns); i++) {
        samples.push_back(undisturbed.next_ns());
        total_ns += samples.back();
    }
    return double(size(spans)) / summarize(samples).median;
}

}  // namespace

double sentinel_ns() {
    constexpr int runs = 15;
    Sentinel sentinel;
    const TimedCall timed{[&] { sentinel.run(); }, {}};
    time_calls(timed, 2);
    UndisturbedSamples undisturbed(timed, 1, 20e6);
    Samples samples;
    for (int i = 0; i < runs; i++) {
        samples.push_back(undisturbed.next_ns());
    }
    return summarize(samples).median;
}

MemorySentinel::MemorySentinel(const Spans &operands, size_t most_bytes)
    : walked_(first(operands, most_bytes)), evicted_(first(operands, std::min(most_bytes, evicted_bytes))) {}

MemorySpeed MemorySentinel::measure() const {
    MemorySpeed speed;
    speed.l3 = gb_s(walked_, near_passes, {[this] { walk_across_pages(walked_); }, {}});
    if (!can_evict_lines()) return speed;
    const auto evict_all = [this] {
        for (const auto &span : evicted_) evict(span);
    };
    speed.dram = gb_s(evicted_, far_passes, {[this] { walk_in_order(evicted_); }, evict_all});
    return speed;
}

}  // namespace kiln
