// The mode of arithmetic in which kernels compute: without subnormal numbers, rounding to nearest, without traps.
//
// Intel's processors take some hundred cycles for a multiply-add with a subnormal number. Trained weights that decayed hold
// many: a layer with them took a hundred times as long. So kernels take subnormal operands for zeros and
// make zeros of subnormal results, as other runtimes do (OpenVINO, TFLite). Copies keep them.
//
// The whole mode is set, not these bits alone: with a rounding mode of the program's, a result would depend on which of its
// threads computes it, and a kernel may divide by zero in lanes that nobody reads.
#pragma once

#include <cstdint>

namespace kiln {

// While one exists, its thread computes so. Then the thread's mode is what it was.
class SubnormalsAsZeros {
#if defined(__x86_64__)
    using Mode = uint32_t;
    static constexpr Mode zeros = 1 << 15 | 1 << 6;     // FTZ of results and DAZ of operands in MXCSR
    static constexpr Mode of_kernels = 0x1f80 | zeros;  // every exception masked, and rounding to nearest
    static constexpr Mode what_counts = ~Mode{0x3f};    // beside exceptions that were seen
    static Mode mode() { return __builtin_ia32_stmxcsr(); }
    static void set_mode(Mode mode) { __builtin_ia32_ldmxcsr(mode); }
#elif defined(__aarch64__)
    using Mode = uint64_t;
    static constexpr Mode zeros = 1 << 24;  // FZ in FPCR
    static constexpr Mode of_kernels = zeros, what_counts = ~Mode{0};
    static Mode mode() {
        Mode mode;
        __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
        return mode;
    }
    static void set_mode(Mode mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
#else
    using Mode = uint32_t;
    static constexpr Mode zeros = 0, of_kernels = 0, what_counts = 0;
    static Mode mode() { return 0; }
    static void set_mode(Mode) {}
#endif

public:
    SubnormalsAsZeros() { enter(); }
    ~SubnormalsAsZeros() { leave(); }
    SubnormalsAsZeros(const SubnormalsAsZeros &) = delete;
    SubnormalsAsZeros &operator=(const SubnormalsAsZeros &) = delete;

    // In between, for functions of the program: leave() is answered by enter().
    void leave() {
        if (changes_) set_mode(before_);
    }
    void enter() {
        before_ = mode();
        changes_ = !is_of_kernels(before_);
        if (changes_) set_mode(of_kernels);
    }

    static constexpr bool exists = zeros != 0;  // on this kind of CPU
    static bool is_mode_of_thread() { return is_of_kernels(mode()); }

private:
    static bool is_of_kernels(Mode mode) { return ((mode ^ of_kernels) & what_counts) == 0; }

    Mode before_ = 0;
    bool changes_ = false;  // writing the mode waits for all arithmetic before
};

}  // namespace kiln
