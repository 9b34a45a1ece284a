#if defined(__x86_64__)
#include <emmintrin.h>

#include "runtime/stream_transpose_loops.h"

namespace kiln {
namespace {

struct Sse2 {
    using Vector = __m128i;
    static constexpr int lanes = 1;

    static Vector load(const char *from) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)); }
    static void stream(char *to, Vector v) { _mm_stream_si128(reinterpret_cast<__m128i *>(to), v); }
    template<int unit>
    static Vector low(Vector a, Vector b) {
        return unit == 1   ? _mm_unpacklo_epi8(a, b)
               : unit == 2 ? _mm_unpacklo_epi16(a, b)
               : unit == 4 ? _mm_unpacklo_epi32(a, b)
                           : _mm_unpacklo_epi64(a, b);
    }
    template<int unit>
    static Vector high(Vector a, Vector b) {
        return unit == 1   ? _mm_unpackhi_epi8(a, b)
               : unit == 2 ? _mm_unpackhi_epi16(a, b)
               : unit == 4 ? _mm_unpackhi_epi32(a, b)
                           : _mm_unpackhi_epi64(a, b);
    }
    static KILN_IN_REGISTERS void exchange_lanes(const Vector *from, Vector *to) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) to[j] = from[j];
    }
};

}  // namespace
}  // namespace kiln

KILN_STREAM_TRANSPOSE(sse2) {
    return kiln::stream_transpose<kiln::Sse2>(operand, result, read_first, written_first, row_stride, column_stride,
                                              run_stride, run, rows, columns, element_bytes, fetch, last);
}
#endif
