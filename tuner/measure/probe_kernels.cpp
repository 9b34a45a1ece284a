#include "tuner/measure/probe_kernels.h"

#include <cstring>

namespace kiln {
namespace {

// acc = acc * a + b with a < 1 settles at b / (1 - a): ordinary numbers with busy mantissas, since a CPU may run faster
// on zeros than it can on data.
[[maybe_unused]] constexpr float factor = 0.9990234f, addend = 1.1234567f, one = 1;

void multiply_add_portable(int64_t iterations) {
    float sums[32];
    for (float &sum : sums) sum = addend;
    for (int64_t i = 0; i < iterations; i++) {
        for (float &sum : sums) sum = sum * factor + addend;
    }
    __asm__ volatile("" : : "m"(sums));
}

void integers_portable(int64_t iterations) {
    int32_t sums[32];
    for (int32_t &sum : sums) sum = 3;
    for (int64_t i = 0; i < iterations; i++) {
        for (int32_t &sum : sums) sum = sum * 5 + 7;
    }
    __asm__ volatile("" : : "m"(sums));
}

void read_portable(const char *data, size_t bytes) {
    uint64_t sums[8] = {};
    for (size_t i = 0; i < bytes; i += sizeof sums) {
        uint64_t words[8];
        std::memcpy(words, data + i, sizeof words);
        for (int j = 0; j < 8; j++) sums[j] ^= words[j];
    }
    __asm__ volatile("" : : "m"(sums));
}

void copy_portable(char *to, const char *from, size_t bytes) { std::memcpy(to, from, bytes); }

#if defined(__x86_64__)

#define KILN_LOW_REGISTERS                                                                                     \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
        "xmm13", "xmm14", "xmm15"

// As many chains as hide the latency of an instruction: a multiply-add takes 4 to 5 cycles and two start in each, so 10
// accumulators are the least. Operands are registers 30 and 31 of 512 bits, 14 and 15 of 256.
#define KILN_CHAINS_512(name, instruction)                                                                      \
    __attribute__((target("avx512f"))) void name(int64_t iterations) {                                          \
        __asm__ volatile(                                                                                       \
            "vbroadcastss %1, %%zmm30\nvbroadcastss %2, %%zmm31\n"                                              \
            ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"                            \
            "vmovaps %%zmm31, %%zmm\\r\n.endr\n.p2align 5\n1:\n"                                                \
            ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n" instruction                \
            " %%zmm31, %%zmm30, %%zmm\\r\n.endr\ndec %0\njnz 1b\nvzeroupper\n"                                  \
            : "+r"(iterations)                                                                                  \
            : "m"(factor), "m"(addend)                                                                          \
            : "cc", KILN_LOW_REGISTERS, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", \
              "xmm30", "xmm31");                                                                                \
    }
#define KILN_CHAINS_256(name, features, instruction)                                                     \
    __attribute__((target(features))) void name(int64_t iterations) {                                    \
        __asm__ volatile(                                                                                \
            "vbroadcastss %1, %%ymm14\nvbroadcastss %2, %%ymm15\n"                                       \
            ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13\nvmovaps %%ymm15, %%ymm\\r\n.endr\n.p2align 5\n1:\n" \
            ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13\n" instruction                                       \
            " %%ymm15, %%ymm14, %%ymm\\r\n.endr\ndec %0\njnz 1b\nvzeroupper\n"                           \
            : "+r"(iterations)                                                                           \
            : "m"(factor), "m"(addend)                                                                   \
            : "cc", KILN_LOW_REGISTERS);                                                                 \
    }

KILN_CHAINS_512(fma_avx512, "vfmadd213ps")
KILN_CHAINS_256(fma_avx2, "avx,fma", "vfmadd213ps")
// Products of small integers; what the sums wrap around to does not matter.
KILN_CHAINS_512(dot_avx512, "vpdpbusd")
KILN_CHAINS_256(dot_avx, "avx2", "%{vex%} vpdpbusd")
#undef KILN_CHAINS_256
#undef KILN_CHAINS_512

// Without fused instructions the peak is as many multiplications as additions. They work on registers of their own,
// 7 and 7: a chain of both in each register would be bound by its latency with only 14 of them. Multiplying by one
// keeps the products from shrinking into subnormal numbers, which are slow.
__attribute__((target("avx"))) void multiply_add_avx(int64_t iterations) {
    __asm__ volatile(
        "vbroadcastss %1, %%ymm14\n"
        "vbroadcastss %2, %%ymm15\n"
        ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13\n"
        "vmovaps %%ymm15, %%ymm\\r\n"
        ".endr\n"
        ".p2align 5\n"
        "1:\n"
        ".irp r,0,1,2,3,4,5,6\n"
        "vmulps %%ymm14, %%ymm\\r, %%ymm\\r\n"
        ".endr\n"
        ".irp r,7,8,9,10,11,12,13\n"
        "vaddps %%ymm15, %%ymm\\r, %%ymm\\r\n"
        ".endr\n"
        "dec %0\n"
        "jnz 1b\n"
        "vzeroupper\n"
        : "+r"(iterations)
        : "m"(one), "m"(addend)
        : "cc", KILN_LOW_REGISTERS);
}

void multiply_add_sse(int64_t iterations) {
    __asm__ volatile(
        "movss %1, %%xmm14\n"
        "shufps $0, %%xmm14, %%xmm14\n"
        "movss %2, %%xmm15\n"
        "shufps $0, %%xmm15, %%xmm15\n"
        ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13\n"
        "movaps %%xmm15, %%xmm\\r\n"
        ".endr\n"
        ".p2align 5\n"
        "1:\n"
        ".irp r,0,1,2,3,4,5,6\n"
        "mulps %%xmm14, %%xmm\\r\n"
        ".endr\n"
        ".irp r,7,8,9,10,11,12,13\n"
        "addps %%xmm15, %%xmm\\r\n"
        ".endr\n"
        "dec %0\n"
        "jnz 1b\n"
        : "+r"(iterations)
        : "m"(one), "m"(addend)
        : "cc", KILN_LOW_REGISTERS);
}

// Pairs of products of 16 bits, and as many additions, on registers of their own.
#define KILN_PAIR_KERNEL(name, attributes, multiply, add, finish) \
    attributes void name(int64_t iterations) {                    \
        __asm__ volatile(                                         \
            ".p2align 5\n1:\n"                                    \
            ".irp r,0,1,2,3,4,5,6\n" multiply                     \
            ".endr\n"                                             \
            ".irp r,7,8,9,10,11,12,13\n" add                      \
            ".endr\n"                                             \
            "dec %0\njnz 1b\n" finish                             \
            : "+r"(iterations)                                    \
            :                                                     \
            : "cc", KILN_LOW_REGISTERS);                          \
    }

KILN_PAIR_KERNEL(pairs_avx512, __attribute__((target("avx512f"))), "vpmaddwd %%zmm14, %%zmm15, %%zmm\\r\n",
                 "vpaddd %%zmm15, %%zmm\\r, %%zmm\\r\n", "vzeroupper\n")
KILN_PAIR_KERNEL(pairs_avx2, __attribute__((target("avx2"))), "vpmaddwd %%ymm14, %%ymm15, %%ymm\\r\n",
                 "vpaddd %%ymm15, %%ymm\\r, %%ymm\\r\n", "vzeroupper\n")
KILN_PAIR_KERNEL(pairs_sse, , "pmaddwd %%xmm14, %%xmm\\r\n", "paddd %%xmm15, %%xmm\\r\n", "")
#undef KILN_PAIR_KERNEL

// Products of 16 x 64 by 64 x 16 numbers, four sums side by side.
void tiles_amx(int64_t iterations) {
    struct alignas(64) TileConfiguration {
        uint8_t palette = 1, start_row = 0, reserved[14] = {};
        uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64};
        uint8_t rows[16] = {16, 16, 16, 16, 16, 16};
    } const configuration;
    __asm__ volatile(
        "ldtilecfg %1\n"
        ".irp r,0,1,2,3,4,5\ntilezero %%tmm\\r\n.endr\n"
        ".p2align 5\n1:\n"
        ".irp r,0,1,2,3\ntdpbssd %%tmm4, %%tmm5, %%tmm\\r\n.endr\n"
        "dec %0\njnz 1b\n"
        "tilerelease\n"
        : "+r"(iterations)
        : "m"(configuration)
        : "cc");
}

// Loads alone, which a CPU executes even when nothing uses them: 8 vectors a pass.
#define KILN_STREAM_KERNELS(suffix, attributes, move, registers, vector_bytes, finish)             \
    attributes void read_##suffix(const char *data, size_t bytes) {                                \
        const char *end = data + bytes;                                                            \
        __asm__ volatile(                                                                          \
            ".p2align 5\n1:\n"                                                                     \
            ".irp i,0,1,2,3,4,5,6,7\n" move " " vector_bytes "*\\i(%0), %%" registers              \
            "\\i\n.endr\n"                                                                         \
            "add $8*" vector_bytes ", %0\ncmp %1, %0\njb 1b\n" finish                              \
            : "+r"(data)                                                                           \
            : "r"(end)                                                                             \
            : "cc", "memory", KILN_LOW_REGISTERS);                                                 \
    }                                                                                              \
    attributes void copy_##suffix(char *to, const char *from, size_t bytes) {                      \
        const char *end = from + bytes;                                                            \
        __asm__ volatile(                                                                          \
            ".p2align 5\n1:\n"                                                                     \
            ".irp i,0,1,2,3,4,5,6,7\n" move " " vector_bytes "*\\i(%0), %%" registers              \
            "\\i\n.endr\n"                                                                         \
            ".irp i,0,1,2,3,4,5,6,7\n" move " %%" registers "\\i, " vector_bytes                   \
            "*\\i(%1)\n.endr\n"                                                                    \
            "add $8*" vector_bytes ", %1\nadd $8*" vector_bytes ", %0\ncmp %2, %0\njb 1b\n" finish \
            : "+r"(from), "+r"(to)                                                                 \
            : "r"(end)                                                                             \
            : "cc", "memory", KILN_LOW_REGISTERS);                                                 \
    }

KILN_STREAM_KERNELS(avx512, __attribute__((target("avx512f"))), "vmovaps", "zmm", "64", "vzeroupper\n")
KILN_STREAM_KERNELS(avx, __attribute__((target("avx"))), "vmovaps", "ymm", "32", "vzeroupper\n")
KILN_STREAM_KERNELS(sse, , "movaps", "xmm", "16", "")

#undef KILN_STREAM_KERNELS
#undef KILN_LOW_REGISTERS
#endif

bool is_x86(const Target &target) { return architecture(target) == "x86"; }

}  // namespace

FmaKernel fma_kernel(const Target &target) {
#if defined(__x86_64__)
    const int bytes = is_x86(target) ? vector_bytes(target) : 0;
    if (bytes == 64) return {"AVX-512 FMA", 24 * 16 * 2, fma_avx512};
    if (bytes == 32 && has_feature(target, "fma")) return {"AVX FMA", 14 * 8 * 2, fma_avx2};
    if (bytes == 32) return {"AVX multiply + add", 14 * 8, multiply_add_avx};
    if (bytes == 16) return {"SSE multiply + add", 14 * 4, multiply_add_sse};
#else
    (void)target;
#endif
    return {"portable loop", 32 * 2, multiply_add_portable};
}

FmaKernel int8_kernel(const Target &target) {
#if defined(__x86_64__)
    const int bytes = is_x86(target) ? vector_bytes(target) : 0;
    if (has_feature(target, "avx512_sapphirerapids")) return {"AMX tiles", 4 * 16 * 16 * 64 * 2, tiles_amx};
    if (bytes == 64 && has_dot_products(target)) return {"AVX-512 VNNI", 24 * 64 * 2, dot_avx512};
    if (bytes == 64) return {"AVX-512 pairs of i16", 7 * 32 * 2, pairs_avx512};
    if (bytes == 32 && has_feature(target, "avxvnni")) return {"AVX VNNI", 14 * 32 * 2, dot_avx};
    if (bytes == 32 && has_feature(target, "avx2")) return {"AVX2 pairs of i16", 7 * 16 * 2, pairs_avx2};
    if (bytes != 0) return {"SSE pairs of i16", 7 * 8 * 2, pairs_sse};
#else
    (void)target;
#endif
    return {"portable loop of integers", 32 * 2, integers_portable};
}

StreamKernels stream_kernels(const Target &target) {
#if defined(__x86_64__)
    const int bytes = is_x86(target) ? vector_bytes(target) : 0;
    if (bytes == 64) return {read_avx512, copy_avx512};
    if (bytes == 32) return {read_avx, copy_avx};
    if (bytes == 16) return {read_sse, copy_sse};
#else
    (void)target;
#endif
    return {read_portable, copy_portable};
}

void dependent_additions(int64_t count) {
    // With two registers: some CPUs fold chains of small constants before they are executed.
    int64_t passes = count / 16, sum = 1;
    const int64_t term = 3;
#if defined(__x86_64__)
    __asm__ volatile(
        ".p2align 5\n"
        "1:\n"
        ".rept 16\n"
        "add %2, %1\n"
        ".endr\n"
        "dec %0\n"
        "jnz 1b\n"
        : "+r"(passes), "+r"(sum)
        : "r"(term)
        : "cc");
#elif defined(__aarch64__)
    __asm__ volatile(
        "1:\n"
        ".rept 16\n"
        "add %1, %1, %2\n"
        ".endr\n"
        "subs %0, %0, #1\n"
        "b.ne 1b\n"
        : "+r"(passes), "+r"(sum)
        : "r"(term)
        : "cc");
#else
#error "kiln runs on x86-64 and aarch64"
#endif
}

}  // namespace kiln
