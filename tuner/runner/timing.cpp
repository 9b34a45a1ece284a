#include "tuner/runner/timing.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>

namespace kiln {

double now_ns() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}

double time_calls(const TimedCall &timed, int calls) {
    if (timed.before_each) {
        timed.before_each();
    }
    const double start = timed.watch.now_ns();
    for (int i = 0; i < calls; i++) {
        timed.call();
    }
    return (timed.watch.now_ns() - start) / calls;
}

double warm_up(const TimedCall &timed) {
    constexpr double warm_up_ns = 10e6;
    const double start = timed.watch.now_ns();
    double fastest = time_calls(timed, 1);
    while (timed.watch.now_ns() - start < warm_up_ns) {
        fastest = std::min(fastest, time_calls(timed, 1));
    }
    return fastest;
}

int calls_per_sample(const TimedCall &timed, double call_ns, const SampleLength &length) {
    if (call_ns >= length.too_short_ns || timed.before_each) {
        return 1;
    }
    return int(std::ceil(length.wanted_ns / std::max(call_ns, 10.0)));
}

int64_t involuntary_switches() {
    rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? int64_t(usage.ru_nivcsw) : 0;
}

double UndisturbedSamples::next_ns() {
    for (;;) {
        const int64_t before = timed_.watch.involuntary_switches();
        const double ns = time_calls(timed_, calls_);
        if (timed_.watch.involuntary_switches() == before || may_lose_ns_ <= 0) {
            return ns;
        }
        may_lose_ns_ -= ns * calls_;
        preempted_++;
    }
}

}  // namespace kiln
