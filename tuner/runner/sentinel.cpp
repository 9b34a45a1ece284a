#include "tuner/runner/sentinel.h"

#include <array>
#include <vector>

#include "records/measurement.h"
#include "tuner/runner/timing.h"

namespace kiln {

namespace {

constexpr size_t near_floats = 2048, far_bytes = 512 << 10, cache_line = 64;

class Sentinel {
public:
    void run() {
        for (int pass = 0; pass < 64; pass++) {
            for (float &x : near_) {
                x = x * 0.9990234f + 1.1234567f;
            }
        }
        unsigned sum = 0;
        for (size_t i = 0; i < far_.size(); i += cache_line) {
            sum += far_[i];
        }
        __asm__ volatile("" : : "r"(sum), "m"(near_));
    }

private:
    std::array<float, near_floats> near_{};
    std::vector<unsigned char> far_ = std::vector<unsigned char>(far_bytes, 1);
};

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

}  // namespace kiln
