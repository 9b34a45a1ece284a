#include "runtime/lookup/byte_lookup.h"
#if defined(__x86_64__)
#include <immintrin.h>

// Row r of the table has the elements of the indices 16 r to 16 r + 15. A shuffle within 128 bits reads the lowest four bits of an
// index, and gives 0 where its highest bit is set. In each half of the table, an index less 16 r, no less than -128, finds an element in
// the rows up to its own, and 0 in those behind. So each row but the first of a half is stored less (xor) the row in front, and the sum
// (xor) of all that is found is the element.
KILN_LOOK_UP(avx2) {
    constexpr int rows = 16, row_bytes = 16, rows_of_half = 8, together = 2;
    constexpr int64_t vector = sizeof(__m256i), bytes = vector * together;
    __m256i differences[rows];
    for (int row = rows - 1; row >= 0; row--) {
        const auto load = [&](int r) {
            return _mm_loadu_si128(reinterpret_cast<const __m128i *>(table + r * row_bytes));
        };
        const __m128i here = load(row), before = row % rows_of_half == 0 ? _mm_setzero_si128() : load(row - 1);
        differences[row] = _mm256_broadcastsi128_si256(_mm_xor_si128(here, before));
    }
    const __m256i flipped = _mm256_set1_epi8(static_cast<char>(flip)), of_row = _mm256_set1_epi8(row_bytes),
                  of_half = _mm256_set1_epi8(-128);
    int64_t i = 0;
    for (; i + bytes <= count; i += bytes) {
        __m256i low[together], high[together], found[together];
        for (int v = 0; v < together; v++) {
            const auto *from = reinterpret_cast<const __m256i *>(indices + i + v * vector);
            low[v] = _mm256_xor_si256(_mm256_loadu_si256(from), flipped);
            high[v] = _mm256_xor_si256(low[v], of_half);
            found[v] = _mm256_setzero_si256();
        }
#pragma GCC unroll 8
        for (int row = 0; row < rows_of_half; row++) {
            for (int v = 0; v < together; v++) {
                const __m256i in_low = _mm256_shuffle_epi8(differences[row], low[v]),
                              in_high = _mm256_shuffle_epi8(differences[rows_of_half + row], high[v]);
                found[v] = _mm256_xor_si256(found[v], _mm256_xor_si256(in_low, in_high));
                low[v] = _mm256_subs_epi8(low[v], of_row);
                high[v] = _mm256_subs_epi8(high[v], of_row);
            }
        }
        for (int v = 0; v < together; v++)
            _mm256_storeu_si256(reinterpret_cast<__m256i *>(result + i + v * vector), found[v]);
    }
    for (; i < count; i++) result[i] = table[indices[i] ^ flip];
    return 0;
}
#endif
