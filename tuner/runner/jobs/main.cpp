// kiln-runner: judges and times one kernel in a process of its own. Reads a job from stdin, answers on stdout
// (runner_protocol.h). Started by the tuner, which sets its limits; not for people.
#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <new>
#include <string>

#include "tuner/protocol/runner_protocol.h"
#include "tuner/runner/crash.h"
#include "tuner/runner/jobs/network_job.h"
#include "tuner/runner/jobs/pack_job.h"
#include "tuner/runner/simulated/simulated_job.h"
#include "tuner/runner/steps.h"

namespace {

void send(int descriptor, const std::string &line) {
    [[maybe_unused]] const auto written = write(descriptor, line.data(), line.size());
}

// A thread that wanders to another core takes cold caches with it. The tuner may have chosen the core already.
void stay_on_this_cpu() {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    sched_setaffinity(0, sizeof(set), &set);
}

kiln::RunnerAnswer run(const kiln::RunnerJob &job, const kiln::SendLine &send) {
    if (const auto *pack = std::get_if<kiln::PackJob>(&job)) return kiln::run_pack_job(*pack, send);
    if (const auto *network = std::get_if<kiln::NetworkJob>(&job)) return kiln::run_network_job(*network, send);
    if (kiln::call_of(job).core) return kiln::run_simulated_job(job, send);
    return kiln::run_job(job, send);
}

kiln::RunnerAnswer answer(const std::string &text, int descriptor) {
    kiln::RunnerAnswer end;
    const auto job = kiln::parse_runner_job(text);
    if (!job) {
        end.environment = job.error().message;
        return end;
    }
    if (kiln::call_of(*job).threads == 1) {
        stay_on_this_cpu();
    }
    try {
        return run(*job, [&](const std::string &line) { send(descriptor, line); });
    } catch (const std::bad_alloc &) {
        end.status = kiln::TrialStatus::out_of_memory;
        end.message = "the memory limit is reached";
        return end;
    }
}

}  // namespace

int main() {
    mallopt(M_ARENA_MAX, 1);  // one for each thread would count against the limit of address space
    // What a kernel prints must not mix with the answer.
    const int descriptor = dup(1);
    dup2(2, 1);
    kiln::install_crash_reporter(descriptor);
    const std::string text(std::istreambuf_iterator<char>(std::cin), {});
    send(descriptor, kiln::end_line(answer(text, descriptor)));
    // Not through exit(): a kernel may have left the heap or the atexit table in any state.
    _exit(0);
}
