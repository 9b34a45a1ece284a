// Timing single calls: warming up, and samples that another process did not interrupt.
#pragma once

#include <cstdint>
#include <functional>

namespace kiln {

// The steady clock; only differences mean something.
double now_ns();

// The number of involuntary context switches of this process so far.
int64_t involuntary_switches();

// Where times come from; tests bring their own.
struct Watch {
    std::function<double()> now_ns = kiln::now_ns;
    std::function<int64_t()> involuntary_switches = kiln::involuntary_switches;
};

struct TimedCall {
    std::function<void()> call;
    std::function<void()> before_each;  // not timed; empty for none
    Watch watch = {};
};

// ns of one call: the mean of `calls` in a row.
double time_calls(const TimedCall &timed, int calls);

// Until the clock frequency and the caches have settled; at least one call. Answers the fastest one's ns.
double warm_up(const TimedCall &timed);

// The length of a sample. A single call is a sample where it is long enough. Shorter calls are repeated until they take
// the wanted time.
struct SampleLength {
    double too_short_ns = 2e3, wanted_ns = 10e3;  // reading the clock takes some 25 ns
};
int calls_per_sample(const TimedCall &timed, double call_ns, const SampleLength &length);

// Samples, made again where the system gave a core to another process meanwhile: such a one is no time of the kernel.
// What counts is that it happened, not how long the call took. With it the spread on a machine with ten times its load
// is 1 %, without it 200 %. Where it goes on, as with calls longer than a time slice, samples are taken as they come.
class UndisturbedSamples {
public:
    UndisturbedSamples(const TimedCall &timed, int calls, double may_lose_ns)
        : timed_(timed), calls_(calls), may_lose_ns_(may_lose_ns) {}

    double next_ns();  // of one call
    int64_t preempted() const { return preempted_; }

private:
    const TimedCall &timed_;
    int calls_;
    double may_lose_ns_;
    int64_t preempted_ = 0;
};

}  // namespace kiln
