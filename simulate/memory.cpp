#include "simulate/memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace kiln {
namespace {

constexpr int64_t gap_bytes = 64;

}  // namespace

SimulatedMemory::SimulatedMemory(int64_t bytes) {
    const auto whole = static_cast<size_t>((std::clamp(bytes, int64_t{4096}, most_bytes) + 3) / 4 * 4);
    bytes_.resize(whole);
    access_.resize(whole);
}

Status SimulatedMemory::map(uint32_t address, int64_t bytes, Access access) {
    if (bytes < 0 || address + bytes > size()) {
        return bad_input(fmt::format("{} bytes at {:#x} have no place in the memory of {} bytes of the simulated core",
                                     bytes, address, size()));
    }
    const auto begin = access_.begin() + address;
    if (std::any_of(begin, begin + bytes, [](uint8_t a) { return a != 0; })) {
        return bad_input(fmt::format("{} bytes at {:#x} are used already", bytes, address));
    }
    protect(address, bytes, access);
    next_free_ = std::max(next_free_, address + bytes + gap_bytes);
    return {};
}

Result<uint32_t> SimulatedMemory::allocate(int64_t bytes, uint32_t alignment, Access access) {
    const int64_t address = (next_free_ + alignment - 1) / alignment * alignment;
    if (address > size()) return bad_input(fmt::format("the memory of {} bytes of the simulated core is full", size()));
    if (Status s = map(static_cast<uint32_t>(address), bytes, access); !s) return s.error();
    return static_cast<uint32_t>(address);
}

void SimulatedMemory::protect(uint32_t address, int64_t bytes, Access access) {
    std::fill_n(access_.begin() + address, bytes, static_cast<uint8_t>(access));
}

std::span<std::byte> SimulatedMemory::at(uint32_t address, int64_t bytes) {
    return {reinterpret_cast<std::byte *>(bytes_.data()) + address, static_cast<size_t>(bytes)};
}

}  // namespace kiln
