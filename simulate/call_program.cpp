// Calls as programs of their own: an image of the memory, and a few instructions that call, compare and end.
#include <algorithm>
#include <cstring>

#include "simulate/simulator.h"

namespace kiln {
namespace {

// Registers by their names in the calling convention; those from s2 to s4 keep their values over a call.
constexpr uint32_t zero = 0, ra = 1, sp = 2, t0 = 5, a0 = 10, a1 = 11, a2 = 12, a7 = 17, s2 = 18, s3 = 19, s4 = 20;
constexpr size_t register_arguments = 8;

constexpr uint32_t begin_mark = 0x00102013, end_mark = 0x00202013, last_mark = 0x00302013;
constexpr uint32_t environment_call = 0x00000073, jump_to_itself = 0x0000006f;
constexpr uint32_t call_write = 64, call_exit = 93;  // of Linux
constexpr uint32_t hash_begin = 1, hash_factor = 16777619;
constexpr uint32_t line_bytes = 64;
constexpr uint32_t page_bytes = 4096;

uint32_t whole_pages(uint32_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

// Instructions one behind the other.
class Code {
public:
    void word(uint32_t instruction) { words_.push_back(instruction); }
    void set(uint32_t to, uint32_t value) {  // always two instructions, so that sizes do not depend on values
        const uint32_t low = value & 0xfff, high = value + 0x800;
        word((high & 0xfffff000) | to << 7 | 0x37);   // lui
        word(low << 20 | to << 15 | to << 7 | 0x13);  // addi
    }
    void add(uint32_t to, int32_t value) { word(static_cast<uint32_t>(value) << 20 | to << 15 | to << 7 | 0x13); }
    void call(uint32_t address) { word(address << 15 | ra << 7 | 0x67); }  // jalr
    void load_byte(uint32_t to, uint32_t address) { word(address << 15 | 4 << 12 | to << 7 | 0x03); }
    void store_word(uint32_t from, uint32_t address) { word(from << 20 | address << 15 | 2 << 12 | 0x23); }
    void exclusive_or(uint32_t to, uint32_t by) { word(by << 20 | to << 15 | 4 << 12 | to << 7 | 0x33); }
    void multiply(uint32_t to, uint32_t by) { word(1 << 25 | by << 20 | to << 15 | to << 7 | 0x33); }
    // Back over so many instructions where the two differ: bne.
    void again_unless_equal(uint32_t a, uint32_t b, uint32_t over) {
        const uint32_t offset = 0u - 4 * over;
        word((offset >> 12 & 1) << 31 | (offset >> 5 & 63) << 25 | b << 20 | a << 15 | 1 << 12 |
             (offset >> 1 & 15) << 8 | (offset >> 11 & 1) << 7 | 0x63);
    }
    const std::vector<uint32_t> &words() const { return words_; }

private:
    std::vector<uint32_t> words_;
};

// The instructions from the stack pointer to the jump lie side by side, since what they displace in the cache is fetched again.
void add_call(const ProgramCall &call, uint32_t stack, bool counts, Code *code) {
    code->set(sp, stack);
    for (size_t i = 0; i < call.arguments.size(); i++) code->set(a0 + static_cast<uint32_t>(i), call.arguments[i]);
    code->set(t0, call.function);
    if (counts) code->word(begin_mark);
    code->call(t0);
    if (counts) code->word(end_mark);
}

// s2 goes through the result up to s3, s4 has the hash.
void add_hash(const ProgramCall &call, uint32_t hash, Code *code) {
    code->set(s2, call.result);
    code->set(s3, call.result + static_cast<uint32_t>(call.result_bytes));
    code->set(s4, hash_begin);
    code->set(a1, hash_factor);
    if (call.result_bytes > 0) {
        code->load_byte(a0, s2);
        code->exclusive_or(s4, a0);
        code->multiply(s4, a1);
        code->add(s2, 1);
        code->again_unless_equal(s2, s3, 4);
    }
    code->set(a1, hash);
    code->store_word(s4, a1);
    for (int i = 0; i < 16; i++) code->add(zero, 0);  // until the store has left the core
    code->word(last_mark);
}

void add_end(Code *code) {  // a1 has the hash's address
    code->set(a7, call_write);
    code->set(a0, 1);
    code->set(a2, 4);
    code->word(environment_call);
    code->set(a7, call_exit);
    code->set(a0, zero);
    code->word(environment_call);
    code->word(jump_to_itself);
}

struct Piece {
    uint32_t address, flags;  // flags: 1 executable, 2 writable, 4 readable
    std::span<const std::byte> content;
};

// Pieces are pages of the file, so that an operating system can map them: their addresses are multiples of a page.
std::string elf_of(uint32_t entry, const std::vector<Piece> &pieces) {
    constexpr uint32_t header_bytes = 52, entry_bytes = 32;
    std::vector<uint32_t> header = {0x464c457f,
                                    0x00010101,
                                    0,
                                    0,  // ELF, 32 bits, little endian
                                    2 | 243 << 16,
                                    1,
                                    entry,
                                    header_bytes,  // an executable for RISC-V
                                    0,
                                    0,
                                    header_bytes | entry_bytes << 16,  // no sections
                                    static_cast<uint32_t>(pieces.size()),
                                    0};
    std::string file(whole_pages(header_bytes + entry_bytes * static_cast<uint32_t>(pieces.size())), '\0');
    for (const Piece &piece : pieces) {
        const auto offset = static_cast<uint32_t>(file.size()), bytes = static_cast<uint32_t>(piece.content.size());
        header.insert(header.end(), {1, offset, piece.address, piece.address, bytes, bytes, piece.flags, page_bytes});
        file.append(reinterpret_cast<const char *>(piece.content.data()), bytes);
        file.resize(whole_pages(static_cast<uint32_t>(file.size())));
    }
    std::memcpy(file.data(), header.data(), 4 * header.size());
    return file;
}

}  // namespace

uint32_t result_hash(std::span<const std::byte> result) {
    uint32_t hash = hash_begin;
    for (const std::byte b : result) hash = (hash ^ static_cast<uint32_t>(b)) * hash_factor;
    return hash;
}

// The instructions lie where those of the call would go on, in an instruction cache that holds both.
Result<std::string> Simulator::program_of(const ProgramCall &call) {
    if (call.arguments.size() > register_arguments)
        return bad_input("calls with more than 8 arguments are no programs");
    const auto cache = static_cast<uint32_t>(core_.instructions.bytes);
    const uint32_t used = (memory_.used_bytes() + cache - 1) / cache * cache;
    const uint32_t entry = used + (code_.begin + code_.bytes() + line_bytes - 1) / line_bytes * line_bytes % cache;
    const uint32_t hash = whole_pages(entry + 1024);  // behind the instructions
    const uint32_t stack = stack_ + static_cast<uint32_t>(limits_.stack_bytes);
    Code code;
    if (call.warm) add_call(call, stack, false, &code);
    while (code.words().size() % (line_bytes / 4) != 0) code.add(zero, 0);
    add_call(call, stack, true, &code);
    add_hash(call, hash, &code);
    add_end(&code);
    std::vector<std::byte> image(entry - lowest_address + 4 * code.words().size());
    const uint32_t end = std::min(memory_.used_bytes(), memory_.size());
    std::memcpy(image.data(), memory_.bytes() + lowest_address, end - lowest_address);
    std::memcpy(image.data() + (entry - lowest_address), code.words().data(), 4 * code.words().size());
    const std::vector<std::byte> word(4);
    return elf_of(entry, {{lowest_address, 7, image}, {hash, 6, word}});
}

}  // namespace kiln
