// The form of NAME.weights: a header, a table of sections, then the sections, which begin at multiples of 64 bytes with
// zeros between them. All numbers are little-endian. What a section holds is the library's to know: the plan is a hash of
// all that both must agree on.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include <stdint.h>

namespace kiln {

inline constexpr uint32_t weights_version = 1;
inline constexpr uint32_t weights_alignment = 64;
inline constexpr char weights_magic[9] = "\x93KILNW\r\n";  // no text, and none that was sent as text

struct WeightsHeader {
    char magic[8];
    uint32_t version;
    uint32_t section_count;
    uint64_t file_bytes;
    uint8_t plan[16];
    uint8_t reserved[24];  // zero
};
static_assert(sizeof(WeightsHeader) == 64);

struct WeightsSection {
    uint64_t offset, bytes;
};

}  // namespace kiln
