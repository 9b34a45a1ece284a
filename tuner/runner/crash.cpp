#include "tuner/runner/crash.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace kiln {

namespace {

constexpr int max_regions = 96;
std::array<Region, max_regions> regions;  // unused ones have no name
int answer_descriptor = 1;
uint64_t address_space_limit = RLIM_INFINITY;
alignas(16) std::array<char, 64 << 10> handler_stack;  // a kernel that overflows its stack leaves none

// A line of JSON put together without malloc, stdio or locale. The texts need no escapes.
class SignalText {
public:
    SignalText &operator<<(const char *text) {
        while (*text && length_ < buffer_.size()) {
            buffer_[length_++] = *text++;
        }
        return *this;
    }
    SignalText &operator<<(uint64_t number) {
        std::array<char, 21> digits;
        size_t at = digits.size();
        digits[--at] = 0;
        do {
            digits[--at] = char('0' + number % 10);
        } while (number /= 10);
        return *this << &digits[at];
    }
    [[noreturn]] void send_and_exit() const {
        [[maybe_unused]] const auto written = write(answer_descriptor, buffer_.data(), length_);
        _exit(0);
    }

private:
    std::array<char, 1024> buffer_;
    size_t length_ = 0;
};

uint64_t address_space_in_use() {
    std::array<char, 64> text = {};
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text.data(), text.size() - 1) <= 0) {
        return 0;
    }
    uint64_t pages = 0;
    for (const char *c = text.data(); *c >= '0' && *c <= '9'; c++) {
        pages = pages * 10 + uint64_t(*c - '0');
    }
    return pages * uint64_t(sysconf(_SC_PAGESIZE));
}

// A failed malloc shows as an access near address 0, with the limit nearly reached.
bool out_of_address_space() {
    if (address_space_limit == RLIM_INFINITY) {
        return false;
    }
    const uint64_t slack = std::max<uint64_t>(64 << 20, address_space_limit / 16);
    return address_space_in_use() + slack >= address_space_limit;
}

enum class Access { read, write, unknown };

const char *verb(Access access) {
    return access == Access::read ? "read " : access == Access::write ? "wrote " : "accessed ";
}

Access access_of([[maybe_unused]] const ucontext_t *context) {
#if defined(__x86_64__)
    return context->uc_mcontext.gregs[REG_ERR] & 2 ? Access::write : Access::read;
#else
    return Access::unknown;
#endif
}

uintptr_t stack_pointer_of([[maybe_unused]] const ucontext_t *context) {
#if defined(__x86_64__)
    return uintptr_t(context->uc_mcontext.gregs[REG_RSP]);
#else
    return 0;
#endif
}

void describe_region(SignalText &text, const Region &region, const std::byte *address, Access access) {
    text << "the kernel " << verb(access);
    if (address >= region.end) {
        text << uint64_t(address - region.end) << " bytes past the end of " << region.name;
    } else if (address < region.begin) {
        text << uint64_t(region.begin - address) << " bytes before the start of " << region.name;
    } else {
        text << "byte " << uint64_t(address - region.begin) << " of " << region.name
             << ", which is read-only during a call";
    }
}

void describe_fault(SignalText &text, int number, const siginfo_t &info, const ucontext_t *context) {
    const auto *address = static_cast<const std::byte *>(info.si_addr);
    const Access access = access_of(context);
    for (const Region &region : regions) {
        if (region.name && address >= region.guard_begin && address < region.guard_end) {
            return describe_region(text, region, address, access);
        }
    }
    const uintptr_t value = uintptr_t(address), stack = stack_pointer_of(context);
    if (info.si_code == SI_KERNEL) {  // a general protection fault: the CPU tells no address
        text << "the kernel made an access that the CPU refuses: a misaligned vector or an impossible address";
    } else if (value + 65536 > stack && value < stack + 65536) {
        text << "the kernel overflowed its stack";
    } else {
        text << "the kernel " << verb(access) << "memory that it does not own, at address " << uint64_t(value);
    }
    text << (number == SIGBUS ? " (SIGBUS)" : " (SIGSEGV)");
}

extern "C" void on_fault(int number, siginfo_t *info, void *context) {
    SignalText text;
    const bool is_access = number == SIGSEGV || number == SIGBUS;
    text << "{\"status\":\"" << (is_access && out_of_address_space() ? "out_of_memory" : "crash")
         << "\",\"message\":\"";
    if (is_access) {
        if (out_of_address_space()) {
            text << "the memory limit is reached; ";
        }
        describe_fault(text, number, *info, static_cast<const ucontext_t *>(context));
    } else if (number == SIGILL) {
        text << "the kernel has an instruction that this CPU does not know (SIGILL)";
    } else {
        text << "the kernel divided by zero or made another arithmetic error (SIGFPE)";
    }
    text << "\"}\n";
    text.send_and_exit();
}

}  // namespace

void install_crash_reporter(int descriptor) {
    answer_descriptor = descriptor;
    rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0) {
        address_space_limit = limit.rlim_cur;
    }
    stack_t stack = {};
    stack.ss_sp = handler_stack.data();
    stack.ss_size = handler_stack.size();
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
        sigaction(number, &action, nullptr);
    }
}

int add_region(const Region &region) {
    for (int i = 0; i < max_regions; i++) {
        if (!regions[i].name) {
            regions[i] = region;
            return i;
        }
    }
    return -1;  // a crash there is reported without the buffer's name
}

void remove_region(int number) {
    if (number >= 0) {
        regions[number].name = nullptr;
    }
}

void report_exhausted(const Arena &arena, size_t requested) {
    SignalText text;
    text << "{\"status\":\"out_of_memory\",\"message\":\"the kernel asked for " << uint64_t(requested)
         << " bytes of workspace where " << uint64_t(arena.used) << " of " << uint64_t(arena.bytes)
         << " are in use\"}\n";
    text.send_and_exit();
}

}  // namespace kiln
