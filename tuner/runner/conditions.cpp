#include "tuner/runner/conditions.h"

#include <sched.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tuner/runner/timing.h"

namespace kiln {

namespace {

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

double rounded(double gb_s) { return std::round(gb_s * 10) / 10; }

}  // namespace

Conditions::Conditions() : steal_ticks_(steal_ticks()), switches_(involuntary_switches()) {}

std::string Conditions::to_json(const Notes &notes) const {
    const int cpu = sched_getcpu();
    nlohmann::json conditions = {
        {"cpu", cpu},
        {"calls_per_sample", notes.calls_per_sample},
        {"retried", notes.retried},
        {"steal_ms", (steal_ticks() - steal_ticks_) * 1000 / sysconf(_SC_CLK_TCK)},
        {"involuntary_switches", involuntary_switches() - switches_},
        {"preempted_calls", notes.preempted_calls},
        {"sentinel_ns", notes.sentinel_ns},
    };
    if (notes.cut_off) {
        conditions["cut_off"] = true;
    }
    if (notes.memory != MemoryState()) {
        const auto &[before, after] = notes.memory;
        conditions["memory_gb_s"] = {{"l3", {rounded(before.l3), rounded(after.l3)}}};
        if (before.dram > 0) conditions["memory_gb_s"]["dram"] = {rounded(before.dram), rounded(after.dram)};
        if (notes.memory_repeats > 0) conditions["memory_repeats"] = notes.memory_repeats;
        if (notes.memory.moved()) conditions["memory_moved"] = true;
    }
    if (double load[3]; getloadavg(load, 3) == 3) {
        conditions["load"] = {load[0], load[1], load[2]};
    }
    if (const double mhz = cpu_mhz(cpu); mhz > 0) {
        conditions["mhz"] = mhz;
    }
    return conditions.dump();
}

}  // namespace kiln
