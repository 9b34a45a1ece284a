#include "tuner/process/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace kiln {

namespace {

// Signals belong to the process, so this state does too.
volatile sig_atomic_t signalled = 0;
int wake_up[2] = {-1, -1};  // a pipe: poll() must see a signal that arrives just before it

extern "C" void on_signal(int number) {
    const int saved_errno = errno;
    if (signalled) {
        signal(number, SIG_DFL);
        raise(number);  // delivered when this handler returns
    }
    signalled = 1;
    const char byte = 1;
    [[maybe_unused]] const auto written = write(wake_up[1], &byte, 1);
    errno = saved_errno;
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
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return signalled != 0; }

int interrupt_descriptor() { return wake_up[0]; }

}  // namespace kiln
