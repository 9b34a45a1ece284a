#include "tuner/runner_sampling.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace kiln {

namespace {

double now_ns() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}

double time_calls(const SamplingRequest &request, int calls) {
    if (request.before_each) {
        request.before_each();
    }
    const double start = now_ns();
    for (int i = 0; i < calls; i++) {
        request.call();
    }
    return (now_ns() - start) / calls;
}

// Until the clock frequency and the caches have settled; at least one call. Answers the fastest call.
double warm_up(const SamplingRequest &request) {
    constexpr double warm_up_ns = 10e6;
    const double start = now_ns();
    double fastest = time_calls(request, 1);
    while (now_ns() - start < warm_up_ns) {
        fastest = std::min(fastest, time_calls(request, 1));
    }
    return fastest;
}

// Reading the clock takes some 25 ns; a sample shorter than this would measure that too.
int calls_per_sample(const SamplingRequest &request, double call_ns) {
    constexpr double too_short_ns = 2e3, long_enough_ns = 10e3;
    if (call_ns >= too_short_ns || request.before_each) {
        return 1;
    }
    return int(std::ceil(long_enough_ns / std::max(call_ns, 10.0)));
}

int64_t involuntary_switches() {
    rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? int64_t(usage.ru_nivcsw) : 0;
}

// A call during which the system gave a core to another process is not a time of the kernel and is made again: what
// counts is that it happened, not how long the call took. With it the spread on a machine with ten times its load is
// 1 %, without it 200 %. Where it goes on, as with calls longer than a time slice, calls are taken as they come.
Samples sample(const SamplingRequest &request, int calls, int64_t *preempted) {
    const double may_lose_ns = 4 * request.limits.max_total_ns;
    Samples samples;
    double lost_ns = 0;
    do {
        // Deciding costs more than a short call: decide after every eighth more samples.
        for (size_t wanted = samples.size() + samples.size() / 8 + 1; samples.size() < wanted;) {
            const int64_t before = involuntary_switches();
            const double ns = time_calls(request, calls);
            if (involuntary_switches() != before && lost_ns < may_lose_ns) {
                lost_ns += ns * calls;
                ++*preempted;
            } else {
                samples.push_back(ns);
            }
        }
    } while (!enough(samples, request.limits));
    return samples;
}

int64_t steal_ticks() {
    std::ifstream stat("/proc/stat");
    std::string label;
    int64_t user, nice, system, idle, iowait, irq, softirq, steal;
    return stat >> label >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal ? steal : 0;
}

double cpu_mhz(int cpu) {
    std::ifstream info("/proc/cpuinfo");
    int current = -1;
    for (std::string line; std::getline(info, line);) {
        const size_t colon = line.find(':');
        if (colon == std::string::npos) {
            continue;
        }
        if (line.starts_with("processor")) {
            current = std::atoi(line.c_str() + colon + 1);
        } else if (current == cpu && line.starts_with("cpu MHz")) {
            return std::atof(line.c_str() + colon + 1);
        }
    }
    return 0;
}

}  // namespace

Sampling take_samples(const SamplingRequest &request) {
    Sampling result;
    const int64_t steal_before = steal_ticks(), switches_before = involuntary_switches();
    const int calls = calls_per_sample(request, warm_up(request));
    int64_t preempted = 0;
    result.samples = sample(request, calls, &preempted);
    const bool retried = unstable(result.samples, request.limits);
    if (retried) {  // a neighbour on the machine may have gone meanwhile
        result.samples = sample(request, calls, &preempted);
        result.is_unstable = unstable(result.samples, request.limits);
    }

    const int cpu = sched_getcpu();
    nlohmann::json conditions = {
        {"cpu", cpu},
        {"calls_per_sample", calls},
        {"retried", retried},
        {"steal_ms", (steal_ticks() - steal_before) * 1000 / sysconf(_SC_CLK_TCK)},
        {"involuntary_switches", involuntary_switches() - switches_before},
        {"preempted_calls", preempted},
    };
    if (double load[3]; getloadavg(load, 3) == 3) {
        conditions["load"] = {load[0], load[1], load[2]};
    }
    if (const double mhz = cpu_mhz(cpu); mhz > 0) {
        conditions["mhz"] = mhz;
    }
    result.conditions = conditions.dump();
    return result;
}

}  // namespace kiln
