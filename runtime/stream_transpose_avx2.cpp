#if defined(__x86_64__)
#include <immintrin.h>

#include "runtime/stream_transpose_loops.h"

namespace kiln {
namespace {

struct Avx2 {
    using Vector = __m256i;
    static constexpr int lanes = 2;

    static Vector load(const char *from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)); }
    static void stream(char *to, Vector v) { _mm256_stream_si256(reinterpret_cast<__m256i *>(to), v); }
    template<int unit>
    static Vector low(Vector a, Vector b) {
        return unit == 1   ? _mm256_unpacklo_epi8(a, b)
               : unit == 2 ? _mm256_unpacklo_epi16(a, b)
               : unit == 4 ? _mm256_unpacklo_epi32(a, b)
                           : _mm256_unpacklo_epi64(a, b);
    }
    template<int unit>
    static Vector high(Vector a, Vector b) {
        return unit == 1   ? _mm256_unpackhi_epi8(a, b)
               : unit == 2 ? _mm256_unpackhi_epi16(a, b)
               : unit == 4 ? _mm256_unpackhi_epi32(a, b)
                           : _mm256_unpackhi_epi64(a, b);
    }
    // From vectors of rows 0 to 3, then 4 to 7, to those of lane 0, then lane 1.
    static KILN_IN_REGISTERS void exchange_lanes(const Vector *from, Vector *to) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            to[j] = _mm256_permute2x128_si256(from[j], from[4 + j], 0x20);
            to[4 + j] = _mm256_permute2x128_si256(from[j], from[4 + j], 0x31);
        }
    }
};

}  // namespace
}  // namespace kiln

KILN_STREAM_TRANSPOSE(avx2) {
    return kiln::stream_transpose<kiln::Avx2>(operand, result, read_first, written_first, row_stride, column_stride,
                                              run_stride, run, rows, columns, element_bytes, fetch, last);
}
#endif
