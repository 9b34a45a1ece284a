// The memory that steps of a program read and write.
#pragma once

#include <cstdint>
#include <vector>

#include "network/program.h"

namespace kiln::network {

struct Range {
    Place place;
    int64_t bytes = 0;

    bool overlaps(const Range &other) const {
        return place.memory == other.place.memory && place.index == other.place.index &&
               place.offset < other.place.offset + other.bytes && other.place.offset < place.offset + bytes;
    }
};

struct Touched {
    std::vector<Range> reads;  // of a kernel's call, in the order of its operands
    Range result;
};

Touched touched(const Step &step);

}  // namespace kiln::network
