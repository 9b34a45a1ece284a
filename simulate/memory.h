// The memory of a simulated core: bytes, and for each byte who may touch it. Blocks have gaps between them that nobody may
// touch, so a kernel that reads or writes one byte beside its operands ends there, on either side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workload/result.h"

namespace kiln {

enum class Access : uint8_t { none = 0, read = 1, read_write = 3 };

class SimulatedMemory {
public:
    static constexpr int64_t most_bytes = int64_t{1} << 30;

    // Addresses 0 to `bytes` - 1, a multiple of 4; larger than `most_bytes`: that many.
    explicit SimulatedMemory(int64_t bytes);

    // The bytes, zero at first, for the access that they are given. Errors (bad_input): beyond the end, or taken.
    Status map(uint32_t address, int64_t bytes, Access access);
    // The same at the next free address that `alignment`, a power of two, divides.
    Result<uint32_t> allocate(int64_t bytes, uint32_t alignment, Access access);
    void protect(uint32_t address, int64_t bytes, Access access);  // precondition: mapped

    std::span<std::byte> at(uint32_t address, int64_t bytes);  // precondition: mapped
    uint8_t *bytes() { return bytes_.data(); }
    const uint8_t *access() const { return access_.data(); }                   // for each byte, the bits of an Access
    uint32_t used_bytes() const { return static_cast<uint32_t>(next_free_); }  // everything mapped lies below
    uint32_t size() const { return static_cast<uint32_t>(bytes_.size()); }

private:
    std::vector<uint8_t> bytes_, access_;
    int64_t next_free_ = 4096;  // a null pointer with an index meets nothing
};

}  // namespace kiln
