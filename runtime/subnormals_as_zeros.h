// Arithmetic without subnormal numbers.
//
// Intel's processors take some hundred cycles for a multiply-add with a subnormal number. Trained weights that decayed hold
// many: a layer with them took a hundred times as long. So kernels take subnormal operands for zeros and
// make zeros of subnormal results, as other runtimes do (OpenVINO, TFLite). Copies keep them.
#pragma once

#include <cstdint>

namespace kiln {

// While one exists, its thread computes so. Then the thread's mode is what it was.
class SubnormalsAsZeros {
#if defined(__x86_64__)
    using Mode = uint32_t;
    static constexpr Mode zeros = 1 << 15 | 1 << 6;  // FTZ of results and DAZ of operands in MXCSR
    static Mode mode() { return __builtin_ia32_stmxcsr(); }
    static void set_mode(Mode mode) { __builtin_ia32_ldmxcsr(mode); }
#elif defined(__aarch64__)
    using Mode = uint64_t;
    static constexpr Mode zeros = 1 << 24;  // FZ in FPCR
    static Mode mode() {
        Mode mode;
        __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
        return mode;
    }
    static void set_mode(Mode mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
#else
    using Mode = uint32_t;
    static constexpr Mode zeros = 0;
    static Mode mode() { return 0; }
    static void set_mode(Mode) {}
#endif

public:
    SubnormalsAsZeros() : before_(mode()) {
        if ((before_ & zeros) != zeros) set_mode(before_ | zeros);
    }
    ~SubnormalsAsZeros() {
        if ((before_ & zeros) != zeros) set_mode(before_);
    }
    SubnormalsAsZeros(const SubnormalsAsZeros &) = delete;
    SubnormalsAsZeros &operator=(const SubnormalsAsZeros &) = delete;

    static constexpr bool exists = zeros != 0;  // on this kind of CPU
    static bool is_mode_of_thread() { return (mode() & zeros) == zeros; }

private:
    const Mode before_;
};

}  // namespace kiln
