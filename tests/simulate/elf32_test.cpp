#include "simulate/elf32.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace kiln {
namespace {

using File = std::vector<std::byte>;

void put(File *file, size_t at, uint32_t value, size_t bytes) {
    if (file->size() < at + bytes) file->resize(at + bytes);
    std::memcpy(file->data() + at, &value, bytes);
}
void put_text(File *file, size_t at, std::string_view text) {
    if (file->size() < at + text.size()) file->resize(at + text.size());
    std::memcpy(file->data() + at, text.data(), text.size());
}

// Where the parts of the file below lie.
constexpr size_t program = 52, code = 84, strings = 96, symbols = 160, sections = 208;

void put_section(File *file, size_t index, std::vector<uint32_t> fields) {
    for (size_t i = 0; i < 10; i++) put(file, sections + 40 * index + 4 * i, i < fields.size() ? fields[i] : 0, 4);
}

// One segment of 8 bytes of code and 4 more of zeros, the global function `f`, and `g`, which is not defined.
File good_file() {
    File file;
    put_text(&file, 0,
             {"\x7f"
              "ELF\1\1\1",
              7});
    put(&file, 16, 2, 2), put(&file, 18, 243, 2), put(&file, 20, 1, 4), put(&file, 24, 0x10000, 4);
    put(&file, 28, program, 4), put(&file, 32, sections, 4), put(&file, 36, 0, 4), put(&file, 40, 52, 2);
    put(&file, 42, 32, 2), put(&file, 44, 1, 2), put(&file, 46, 40, 2), put(&file, 48, 6, 2), put(&file, 50, 1, 2);
    const uint32_t segment[] = {1, code, 0x10000, 0x10000, 8, 12, 5, 4};
    for (size_t i = 0; i < 8; i++) put(&file, program + 4 * i, segment[i], 4);
    put(&file, code, 0x00000513, 4), put(&file, code + 4, 0x00008067, 4);
    const std::string_view names("\0.names\0.text\0.rodata\0.symtab\0.data\0f\0g\0", 40);
    put_text(&file, strings, names);
    put(&file, symbols + 16, 36, 4), put(&file, symbols + 20, 0x10004, 4), put(&file, symbols + 28, 0x12, 1),
        put(&file, symbols + 30, 2, 2);
    put(&file, symbols + 32, 38, 4), put(&file, symbols + 44, 0x10, 1), put(&file, symbols + 46, 0, 2);
    put_section(&file, 0, {});
    put_section(&file, 1, {1, 3, 0, 0, strings, 40});
    put_section(&file, 2, {8, 1, 6, 0x10000, code, 8});
    put_section(&file, 3, {14, 1, 2, 0, code, 100});
    put_section(&file, 4, {22, 2, 0, 0, symbols, 48, 1, 0, 4, 16});
    put_section(&file, 5, {30, 8, 3, 0, 0, 20});
    return file;
}

TEST(Elf32, ReadsSegmentsSectionsAndSymbols) {
    const File file = good_file();
    const auto elf = parse_elf32(file, "k.elf");
    ASSERT_TRUE(elf) << elf.error().message;
    ASSERT_EQ(elf->segments.size(), 1u);
    EXPECT_EQ(elf->segments[0].address, 0x10000u);
    EXPECT_EQ(elf->segments[0].memory_bytes, 12u);
    EXPECT_EQ(elf->segments[0].content.size(), 8u);
    EXPECT_TRUE(elf->segments[0].executable);
    EXPECT_FALSE(elf->segments[0].writable);
    EXPECT_EQ(elf->symbols, (std::map<std::string, uint32_t>{{"f", 0x10004}}));
    EXPECT_EQ(elf->undefined, std::vector<std::string>{"g"});
    const ObjectSizes sizes = sizes_of(*elf);
    EXPECT_EQ(sizes.text, 8);
    EXPECT_EQ(sizes.rodata, 100);
    EXPECT_EQ(sizes.data, 20);
}

TEST(Elf32, NamesWhatIsWrong) {
    const struct {
        std::function<void(File *)> change;
        const char *message;
    } rows[] = {
        {[](File *f) { f->resize(40); }, "k.elf: is too short for an ELF file"},
        {[](File *f) { f->clear(); }, "k.elf: is too short for an ELF file"},
        {[](File *f) { put(f, 0, 0, 4); }, "k.elf: is no ELF file"},
        {[](File *f) { put(f, 4, 2, 1); },
         "k.elf: is not for a little-endian RISC-V of 32 bits; compile with -march=rv32im -mabi=ilp32"},
        {[](File *f) { put(f, 18, 62, 2); },
         "k.elf: is not for a little-endian RISC-V of 32 bits; compile with -march=rv32im -mabi=ilp32"},
        {[](File *f) { put(f, 36, 1, 4); },
         "k.elf: needs compressed instructions or floating point; compile with -march=rv32im -mabi=ilp32"},
        {[](File *f) { put(f, 16, 3, 2); },
         "k.elf: has the ELF type 3; needs a relocatable object (1) or an executable (2)"},
        {[](File *f) { put(f, 42, 31, 2); }, "k.elf: its program headers have another size"},
        {[](File *f) { put(f, 46, 41, 2); }, "k.elf: its section headers have another size"},
        {[](File *f) { put(f, 28, 0xfffffff0, 4); },
         "k.elf: program header 0 lies outside of the file; build the kernel again"},
        {[](File *f) { put(f, program + 4, 0x7fffffff, 4); },
         "k.elf: segment 0 lies outside of the file; build the kernel again"},
        {[](File *f) { put(f, program + 16, 16, 4); }, "k.elf: segment 0 has no place in an address space of 32 bits"},
        {[](File *f) { put(f, program + 8, 0xfffffffc, 4); },
         "k.elf: segment 0 has no place in an address space of 32 bits"},
        {[](File *f) { put(f, 48, 200, 2); },
         "k.elf: section header 6 lies outside of the file; build the kernel again"},
        {[](File *f) { put(f, 50, 6, 2); }, "k.elf: its table of section names is missing"},
        {[](File *f) {
             put_section(f, 2, {4000, 1, 6});
         },
         "k.elf: the name of a section lies outside of the file; build the kernel again"},
        {[](File *f) {
             put_section(f, 4, {22, 2, 0, 0, symbols, 48, 9});
         },
         "k.elf: its table of symbols has no names"},
        {[](File *f) {
             put_section(f, 4, {22, 2, 0, 0, symbols, 4096, 1});
         },
         "k.elf: symbol "},
        {[](File *f) { put(f, symbols + 16, 0x7fffffff, 4); },
         "k.elf: the name of a symbol lies outside of the file; build the kernel again"},
    };
    for (const auto &row : rows) {
        File file = good_file();
        row.change(&file);
        const auto elf = parse_elf32(file, "k.elf");
        ASSERT_FALSE(elf) << row.message;
        EXPECT_EQ(elf.error().message.substr(0, std::string(row.message).size()), row.message);
    }
}

// Every beginning of the file, and every byte of it changed: a message or an answer, and nothing read outside (ASan).
TEST(Elf32, SurvivesDamage) {
    const File file = good_file();
    for (size_t bytes = 0; bytes < file.size(); bytes++) {
        const File cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes));
        EXPECT_FALSE(parse_elf32(cut, "k.elf")) << bytes;
    }
    for (size_t at = 0; at < file.size(); at++) {
        File changed = file;
        changed[at] ^= std::byte{0xff};
        const auto elf = parse_elf32(changed, "k.elf");
        EXPECT_TRUE(!elf || elf->segments.size() <= 1) << at;
    }
}

}  // namespace
}  // namespace kiln
