// vexriscv PROGRAM [MOST_CYCLES]: a program on the VexRiscv of LiteX ("standard": caches of 4 KiB), as Verilator makes it of
// its Verilog, and memory that answers as that of kiln's default core: the first word of a line after 10 cycles, then one a
// cycle; a store is done after 2.
//
// Counts what lies between the marks that kiln-simulate knows (`slti zero, zero, 1` and `2`) and ends at a third, `slti zero,
// zero, 3`. Prints one JSON object: counts of each stretch, and the word at `bench_hash`'s place, which is the first word of
// the writable segment.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "VVexRiscv.h"
#include "VVexRiscv_VexRiscv.h"
#include "verilated.h"

namespace {

constexpr int refill_latency = 10, store_latency = 2;
constexpr uint32_t begin_mark = 0x00102013, end_mark = 0x00202013, last_mark = 0x00302013;

struct Counts {
    uint64_t cycles = 0, instructions = 0, fetch_misses = 0, load_misses = 0, stores = 0;
};

Counts operator-(const Counts &a, const Counts &b) {
    return {a.cycles - b.cycles, a.instructions - b.instructions, a.fetch_misses - b.fetch_misses,
            a.load_misses - b.load_misses, a.stores - b.stores};
}

class Board {
public:
    bool load(const char *path);
    void reset();
    uint32_t step();  // a cycle; the instruction that ended in it, or 0
    uint32_t word(uint32_t address) const {
        uint32_t value = 0;
        if (size_t(address) + 4 <= memory_.size()) std::memcpy(&value, &memory_[address], 4);
        return value;
    }
    const Counts &counts() const { return counts_; }
    uint32_t variables() const { return variables_; }

private:
    // The last word of a burst, or a single one.
    static bool ends(int kind) { return kind == 7 || kind == 0; }
    void answer_fetches();
    void answer_data();

    std::unique_ptr<VVexRiscv> core_ = std::make_unique<VVexRiscv>();
    std::vector<uint8_t> memory_ = std::vector<uint8_t>(16 << 20);
    uint32_t entry_ = 0, variables_ = 0;
    int fetch_wait_ = 0, data_wait_ = 0;
    Counts counts_;
};

bool Board::load(const char *path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> elf(std::istreambuf_iterator<char>(file), {});
    if (elf.size() < 52) return false;
    const auto read = [&](size_t at) {
        uint32_t value = 0;
        if (at + 4 <= elf.size()) std::memcpy(&value, &elf[at], 4);
        return value;
    };
    entry_ = read(24);
    const uint32_t headers = read(28), count = read(44) & 0xffff;
    for (uint32_t i = 0; i < count; i++) {
        const size_t header = headers + size_t(32) * i;
        const uint32_t offset = read(header + 4), address = read(header + 8), bytes = read(header + 16);
        if (read(header) != 1) continue;
        if (read(header + 24) & 2) variables_ = address;
        if (uint64_t(offset) + bytes > elf.size() || uint64_t(address) + bytes > memory_.size()) return false;
        std::memcpy(&memory_[address], &elf[offset], bytes);
    }
    return true;
}

void Board::reset() {
    core_->externalResetVector = entry_;
    core_->timerInterrupt = core_->softwareInterrupt = 0;
    core_->externalInterruptArray = 0;
    core_->iBusWishbone_ACK = core_->dBusWishbone_ACK = 0;
    core_->iBusWishbone_ERR = core_->dBusWishbone_ERR = 0;
    core_->reset = 1;
    for (int i = 0; i < 20; i++) {
        core_->clk = 0, core_->eval();
        core_->clk = 1, core_->eval();
    }
    core_->reset = 0;
}

void Board::answer_fetches() {
    core_->iBusWishbone_ACK = 0;
    if (!core_->iBusWishbone_CYC || !core_->iBusWishbone_STB || fetch_wait_++ < refill_latency) return;
    core_->iBusWishbone_ACK = 1;
    core_->iBusWishbone_DAT_MISO = word(core_->iBusWishbone_ADR << 2);
    if (ends(core_->iBusWishbone_CTI)) fetch_wait_ = 0, counts_.fetch_misses++;
}

void Board::answer_data() {
    core_->dBusWishbone_ACK = 0;
    if (!core_->dBusWishbone_CYC || !core_->dBusWishbone_STB) return;
    if (data_wait_++ < (core_->dBusWishbone_WE ? store_latency : refill_latency)) return;
    core_->dBusWishbone_ACK = 1;
    const uint32_t address = core_->dBusWishbone_ADR << 2;
    if (!core_->dBusWishbone_WE) {
        core_->dBusWishbone_DAT_MISO = word(address);
        if (ends(core_->dBusWishbone_CTI)) data_wait_ = 0, counts_.load_misses++;
        return;
    }
    for (uint32_t k = 0; k < 4; k++) {
        if ((core_->dBusWishbone_SEL >> k & 1) && address + k < memory_.size())
            memory_[address + k] = static_cast<uint8_t>(core_->dBusWishbone_DAT_MOSI >> (8 * k));
    }
    data_wait_ = 0, counts_.stores++;
}

uint32_t Board::step() {
    core_->clk = 0, core_->eval();
    answer_fetches();
    answer_data();
    core_->eval();
    const auto *inside = core_->VexRiscv;
    const uint32_t ended = inside->lastStageIsFiring ? inside->lastStageInstruction : 0;
    counts_.cycles++, counts_.instructions += inside->lastStageIsFiring != 0;
    core_->clk = 1, core_->eval();
    return ended;
}

void print(const Counts &c) {
    std::printf(
        "{\"cycles\": %llu, \"instructions\": %llu, \"fetch_misses\": %llu, \"load_misses\": %llu, \"stores\": %llu}",
        static_cast<unsigned long long>(c.cycles), static_cast<unsigned long long>(c.instructions),
        static_cast<unsigned long long>(c.fetch_misses), static_cast<unsigned long long>(c.load_misses),
        static_cast<unsigned long long>(c.stores));
}

}  // namespace

int main(int argc, char **argv) {
    Board board;
    if (argc < 2 || !board.load(argv[1])) {
        std::fprintf(stderr, "usage: vexriscv PROGRAM [MOST_CYCLES]; PROGRAM is an ELF file of 16 MiB at most\n");
        return 2;
    }
    const uint64_t most = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 2'000'000'000;
    board.reset();
    std::printf("{\"marked\": [");
    Counts begin;
    const char *separator = "";
    for (uint32_t ended = 0; ended != last_mark; ended = board.step()) {
        if (ended == begin_mark) begin = board.counts();
        if (ended == end_mark) {
            std::printf("%s", separator);
            print(board.counts() - begin);
            separator = ", ";
        }
        if (board.counts().cycles > most) {
            std::fprintf(stderr, "vexriscv: no end after %llu cycles\n", static_cast<unsigned long long>(most));
            return 1;
        }
    }
    std::printf("], \"hash\": %u}\n", board.word(board.variables()));
    return 0;
}
