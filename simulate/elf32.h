// An ELF file for RV32: where its segments go, where its functions are, how large its sections are. The file comes from a
// compiler, but may be cut off or of another machine: nothing is read outside of it, and what is wrong is a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "workload/result.h"

namespace kiln {

struct Elf32 {
    struct Segment {
        uint32_t address = 0, memory_bytes = 0;
        std::span<const std::byte> content;  // at its beginning; the rest is zero
        bool executable = false, writable = false;
    };
    struct Section {
        std::string name;
        uint32_t bytes = 0;
        bool loaded = false, executable = false, writable = false, has_content = false;
    };
    uint32_t entry = 0;             // where a program begins
    std::vector<Segment> segments;  // those that are loaded; none in a relocatable file
    std::vector<Section> sections;
    std::map<std::string, uint32_t> symbols;  // defined and global, with their addresses
    std::vector<std::string> undefined;       // global symbols that another file must define, sorted
};

// `file` must outlive the answer. Errors (bad_input) begin with `name`.
Result<Elf32> parse_elf32(std::span<const std::byte> file, const std::string &name);

// Sizes of a kernel's object: instructions, constants, and data that would have to be in RAM.
struct ObjectSizes {
    int64_t text = 0, rodata = 0, data = 0;
};
ObjectSizes sizes_of(const Elf32 &object);

}  // namespace kiln
