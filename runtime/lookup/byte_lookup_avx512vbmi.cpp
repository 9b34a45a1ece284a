#include "runtime/lookup/byte_lookup.h"
#if defined(__x86_64__)
#include <immintrin.h>

// Two shuffles of 128 bytes each by the lowest seven bits of an index; its highest bit chooses.
KILN_LOOK_UP(avx512vbmi) {
    constexpr int64_t bytes = 64;
    __m512i of_table[4];
    for (int i = 0; i < 4; i++) of_table[i] = _mm512_loadu_si512(table + i * bytes);
    const __m512i flipped = _mm512_set1_epi8(static_cast<char>(flip));
    for (int64_t i = 0; i < count; i += bytes) {
        const int64_t left = count - i;
        const __mmask64 there = left >= bytes ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
        const __m512i at = _mm512_xor_si512(_mm512_maskz_loadu_epi8(there, indices + i), flipped);
        const __m512i low = _mm512_permutex2var_epi8(of_table[0], at, of_table[1]);
        const __m512i high = _mm512_permutex2var_epi8(of_table[2], at, of_table[3]);
        _mm512_mask_storeu_epi8(result + i, there, _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, high));
    }
    return 0;
}
#endif
