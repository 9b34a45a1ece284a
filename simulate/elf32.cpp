#include "simulate/elf32.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "text/excerpt.h"

namespace kiln {
namespace {

// The structures of the format, as the ELF specification names them.
struct Header {
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version, entry, phoff, shoff, flags;
    uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};
struct ProgramHeader {
    uint32_t type, offset, vaddr, paddr, filesz, memsz, flags, align;
};
struct SectionHeader {
    uint32_t name, type, flags, addr, offset, size, link, info, addralign, entsize;
};
struct Symbol {
    uint32_t name, value, size;
    uint8_t info, other;
    uint16_t shndx;
};
static_assert(sizeof(Header) == 52 && sizeof(ProgramHeader) == 32 && sizeof(SectionHeader) == 40 &&
              sizeof(Symbol) == 16);

constexpr uint16_t relocatable = 1, executable = 2, machine_riscv = 243;
constexpr uint32_t segment_load = 1, segment_x = 1, segment_w = 2;
constexpr uint32_t section_nobits = 8, section_symtab = 2, section_w = 1, section_alloc = 2, section_x = 4;
constexpr uint32_t flag_compressed = 1, flag_float_abi = 6;
constexpr uint8_t bind_global = 1, bind_weak = 2;

class Reader {
public:
    Reader(std::span<const std::byte> file, const std::string &name) : file_(file), name_(name) {}

    Result<Elf32> read();

private:
    Error refuse(const std::string &why) const { return bad_input(name_ + ": " + why); }
    Error cut_off(const std::string &what) const {
        return refuse(what + " lies outside of the file; build the kernel again");
    }

    std::optional<std::span<const std::byte>> part(uint64_t offset, uint64_t bytes) const {
        if (offset > file_.size() || bytes > file_.size() - offset) return std::nullopt;
        return file_.subspan(offset, bytes);
    }
    template<typename T>
    std::optional<T> entry(uint64_t offset) const {
        const auto bytes = part(offset, sizeof(T));
        if (!bytes) return std::nullopt;
        T value;
        std::memcpy(&value, bytes->data(), sizeof value);
        return value;
    }
    std::optional<std::string> text(const SectionHeader &strings, uint32_t at) const;

    Status check_header() const;
    Status read_segments(Elf32 *elf) const;
    Status read_sections(Elf32 *elf);
    Status read_symbols(const SectionHeader &table, Elf32 *elf) const;

    std::span<const std::byte> file_;
    const std::string &name_;
    Header header_ = {};
    std::vector<SectionHeader> sections_;
};

std::optional<std::string> Reader::text(const SectionHeader &strings, uint32_t at) const {
    const auto bytes = part(strings.offset, strings.size);
    if (!bytes || at >= bytes->size()) return std::nullopt;
    const auto from = bytes->subspan(at);
    const auto end = std::ranges::find(from, std::byte{0});
    if (end == from.end()) return std::nullopt;
    return std::string(reinterpret_cast<const char *>(from.data()), static_cast<size_t>(end - from.begin()));
}

Status Reader::check_header() const {
    constexpr uint8_t begin[] = {0x7f, 'E', 'L', 'F'};
    if (std::memcmp(header_.ident, begin, sizeof begin) != 0) return refuse("is no ELF file");
    if (header_.ident[4] != 1 || header_.ident[5] != 1 || header_.machine != machine_riscv) {
        return refuse("is not for a little-endian RISC-V of 32 bits; compile with -march=rv32im -mabi=ilp32");
    }
    if (header_.flags & (flag_compressed | flag_float_abi)) {
        return refuse("needs compressed instructions or floating point; compile with -march=rv32im -mabi=ilp32");
    }
    if (header_.type != relocatable && header_.type != executable) {
        return refuse(
            fmt::format("has the ELF type {}; needs a relocatable object (1) or an executable (2)", header_.type));
    }
    if (header_.phnum > 0 && header_.phentsize != sizeof(ProgramHeader))
        return refuse("its program headers have another size");
    if (header_.shnum > 0 && header_.shentsize != sizeof(SectionHeader))
        return refuse("its section headers have another size");
    return {};
}

Status Reader::read_segments(Elf32 *elf) const {
    for (uint32_t i = 0; i < header_.phnum; i++) {
        const auto p = entry<ProgramHeader>(uint64_t{header_.phoff} + i * sizeof(ProgramHeader));
        if (!p) return cut_off(fmt::format("program header {}", i));
        if (p->type != segment_load || p->memsz == 0) continue;
        const auto content = part(p->offset, p->filesz);
        if (!content) return cut_off(fmt::format("segment {}", i));
        if (p->filesz > p->memsz || uint64_t{p->vaddr} + p->memsz > UINT32_MAX) {
            return refuse(fmt::format("segment {} has no place in an address space of 32 bits", i));
        }
        elf->segments.push_back(
            {p->vaddr, p->memsz, *content, (p->flags & segment_x) != 0, (p->flags & segment_w) != 0});
    }
    return {};
}

Status Reader::read_sections(Elf32 *elf) {
    for (uint32_t i = 0; i < header_.shnum; i++) {
        const auto s = entry<SectionHeader>(uint64_t{header_.shoff} + i * sizeof(SectionHeader));
        if (!s) return cut_off(fmt::format("section header {}", i));
        sections_.push_back(*s);
    }
    if (sections_.empty()) return {};
    if (header_.shstrndx >= sections_.size()) return refuse("its table of section names is missing");
    for (const SectionHeader &s : sections_) {
        const auto section_name = text(sections_[header_.shstrndx], s.name);
        if (!section_name) return cut_off("the name of a section");
        elf->sections.push_back({*section_name, s.size, (s.flags & section_alloc) != 0, (s.flags & section_x) != 0,
                                 (s.flags & section_w) != 0, s.type != section_nobits});
    }
    return {};
}

Status Reader::read_symbols(const SectionHeader &table, Elf32 *elf) const {
    if (table.link >= sections_.size()) return refuse("its table of symbols has no names");
    for (uint64_t i = 1; i < table.size / sizeof(Symbol); i++) {
        const auto symbol = entry<Symbol>(table.offset + i * sizeof(Symbol));
        if (!symbol) return cut_off(fmt::format("symbol {}", i));
        const int bind = symbol->info >> 4;
        if (bind != bind_global && bind != bind_weak) continue;
        const auto symbol_name = text(sections_[table.link], symbol->name);
        if (!symbol_name) return cut_off("the name of a symbol");
        if (symbol->shndx == 0) {
            elf->undefined.push_back(*symbol_name);
        } else {
            elf->symbols[*symbol_name] = symbol->value;
        }
    }
    std::ranges::sort(elf->undefined);
    return {};
}

Result<Elf32> Reader::read() {
    const auto header = entry<Header>(0);
    if (!header) return refuse("is too short for an ELF file");
    header_ = *header;
    if (Status s = check_header(); !s) return s.error();
    Elf32 elf;
    elf.entry = header_.entry;
    if (Status s = read_segments(&elf); !s) return s.error();
    if (Status s = read_sections(&elf); !s) return s.error();
    for (const SectionHeader &table : sections_) {
        if (table.type != section_symtab) continue;
        if (Status s = read_symbols(table, &elf); !s) return s.error();
    }
    return elf;
}

}  // namespace

Result<Elf32> parse_elf32(std::span<const std::byte> file, const std::string &name) {
    return Reader(file, name).read();
}

ObjectSizes sizes_of(const Elf32 &object) {
    ObjectSizes sizes;
    for (const Elf32::Section &section : object.sections) {
        if (!section.loaded) continue;
        (section.executable ? sizes.text : section.writable ? sizes.data : sizes.rodata) += section.bytes;
    }
    return sizes;
}

}  // namespace kiln
