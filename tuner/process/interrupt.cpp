#include "tuner/process/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace kiln {

namespace {

// Signals belong to the process, so this state does too.
volatile sig_atomic_t signalled = 0;
timespec first_time = {};
int wake_up[2] = {-1, -1};  // a pipe: poll() must see a signal that arrives just before it

double seconds_since(const timespec &start) {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec - start.tv_sec) + double(now.tv_nsec - start.tv_nsec) * 1e-9;
}

// A closing terminal may send SIGHUP more than once, and SIGXCPU comes every second.
bool is_impatient(int number) {
    constexpr double together = 0.1;  // seconds
    return (number == SIGINT || number == SIGTERM) && seconds_since(first_time) > together;
}

extern "C" void on_signal(int number) {
    const int saved_errno = errno;
    if (!signalled) {
        clock_gettime(CLOCK_MONOTONIC, &first_time);
    } else if (is_impatient(number)) {
        signal(number, SIG_DFL);
        raise(number);  // delivered when this handler returns
    }
    signalled = 1;
    const char byte = 1;
    [[maybe_unused]] const auto written = write(wake_up[1], &byte, 1);
    errno = saved_errno;
}

bool is_ignored(int number) {
    struct sigaction action = {};
    return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void install_interrupt_handler() {
    if (wake_up[0] < 0 && pipe2(wake_up, O_CLOEXEC | O_NONBLOCK) != 0) {
        return;  // without descriptors nothing else works either; Ctrl-C then ends the process as usual
    }
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    // Shells start background jobs of scripts with SIGINT ignored; who sends it to one means it.
    for (const int number : {SIGINT, SIGTERM, SIGXCPU}) sigaction(number, &action, nullptr);
    if (!is_ignored(SIGHUP)) sigaction(SIGHUP, &action, nullptr);
}

bool interrupted() { return signalled != 0; }

int interrupt_descriptor() { return wake_up[0]; }

}  // namespace kiln
