#if defined(__x86_64__)
#include <emmintrin.h>

#include "runtime/transpose/matrix_transpose_loops.h"

namespace kiln {
namespace {

struct Sse2 {
    using Vector = __m128i;
    static constexpr int lanes = 1;

    static Vector load(const char *from) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)); }
    static Vector load_first(const char *from) { return load(from); }
    template<int count>
    static void exchange_lanes(Vector *) {}
    static void stream(char *to, Vector v) { _mm_stream_si128(reinterpret_cast<__m128i *>(to), v); }
    template<int bytes>
    static Vector low(Vector a, Vector b) {
        return bytes == 1 ? _mm_unpacklo_epi8(a, b) : bytes == 2 ? _mm_unpacklo_epi16(a, b) : _mm_unpacklo_epi32(a, b);
    }
    template<int bytes>
    static Vector high(Vector a, Vector b) {
        return bytes == 1 ? _mm_unpackhi_epi8(a, b) : bytes == 2 ? _mm_unpackhi_epi16(a, b) : _mm_unpackhi_epi32(a, b);
    }
};

}  // namespace
}  // namespace kiln

KILN_TRANSPOSE(sse2) {
    return kiln::transpose<kiln::Sse2>(operand, result, read_first, written_first, row_stride, column_stride,
                                       run_stride, run, rows, columns, element_bytes, fetch, past_caches, last);
}
#endif
