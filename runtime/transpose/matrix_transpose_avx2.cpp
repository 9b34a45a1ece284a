#if defined(__x86_64__)
#include <immintrin.h>

#include "runtime/transpose/matrix_transpose_loops.h"

namespace kiln {
namespace {

struct Avx2 {
    using Vector = __m256i;
    static constexpr int lanes = 2;

    static Vector load(const char *from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)); }
    static Vector load_first(const char *from) {
        return _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
    }
    static Vector load_second(Vector v, const char *from) {
        return _mm256_inserti128_si256(v, _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)), 1);
    }
    template<int count>
    static KILN_IN_REGISTERS void exchange_lanes(Vector *v) {
#pragma GCC unroll 4
        for (int i = 0; i < count; i++) {
            const Vector a = v[i], b = v[count + i];
            v[i] = _mm256_permute2x128_si256(a, b, 0x20);
            v[count + i] = _mm256_permute2x128_si256(a, b, 0x31);
        }
    }
    static void stream(char *to, Vector v) { _mm256_stream_si256(reinterpret_cast<__m256i *>(to), v); }
    template<int bytes>
    static Vector low(Vector a, Vector b) {
        return bytes == 1   ? _mm256_unpacklo_epi8(a, b)
               : bytes == 2 ? _mm256_unpacklo_epi16(a, b)
                            : _mm256_unpacklo_epi32(a, b);
    }
    template<int bytes>
    static Vector high(Vector a, Vector b) {
        return bytes == 1   ? _mm256_unpackhi_epi8(a, b)
               : bytes == 2 ? _mm256_unpackhi_epi16(a, b)
                            : _mm256_unpackhi_epi32(a, b);
    }
};

}  // namespace
}  // namespace kiln

KILN_TRANSPOSE(avx2) {
    return kiln::transpose<kiln::Avx2>(operand, result, read_first, written_first, row_stride, column_stride,
                                       run_stride, run, rows, columns, element_bytes, fetch, past_caches, last);
}
#endif
