#include "simulate/execution.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace kiln {
namespace {

int32_t as_signed(uint32_t value) { return static_cast<int32_t>(value); }

// Division never traps: the specification says what comes out.
uint32_t divide(uint32_t a, uint32_t b) {
    if (b == 0) return ~uint32_t{0};
    if (a == 0x80000000 && b == ~uint32_t{0}) return a;
    return static_cast<uint32_t>(as_signed(a) / as_signed(b));
}
uint32_t remainder(uint32_t a, uint32_t b) {
    if (b == 0) return a;
    if (a == 0x80000000 && b == ~uint32_t{0}) return 0;
    return static_cast<uint32_t>(as_signed(a) % as_signed(b));
}

uint32_t high_part(int64_t product) { return static_cast<uint32_t>(static_cast<uint64_t>(product) >> 32); }

// Whether each byte of a T at an aligned address allows it.
template<typename T>
bool allowed(const SimulatedMemory &memory, uint32_t address, Access wanted) {
    if (address >= memory.size()) return false;  // sizes and aligned addresses are multiples, so the end is inside, too
    T bits, every;
    std::memcpy(&bits, memory.access() + address, sizeof bits);
    std::memset(&every, static_cast<int>(wanted), sizeof every);
    return (bits & every) == every;
}

class Executor {
public:
    Executor(const DecodedCode &code, const CoreDescription &core, CoreState &state, SimulatedMemory &memory)
        : code_(code), core_(core), state_(state), memory_(memory) {}

    Execution run(const ExecutionLimits &limits);

private:
    void fetch(uint32_t pc) {
        if (state_.fetched.holds(pc)) return;
        state_.fetched.fill(pc);
        fetch_misses_++;
        cycle_ += core_.instructions.refill_cycles;
    }

    // False: it is refused.
    template<typename T>
    bool load(uint32_t address, uint8_t rd) {
        if ((address & (sizeof(T) - 1)) != 0) return refuse(Stop::misaligned, address);
        using Bits = std::make_unsigned_t<T>;
        if (!allowed<Bits>(memory_, address, Access::read)) return refuse(Stop::bad_load, address);
        loads_++;
        if (!state_.loaded.holds(address)) {
            state_.loaded.fill(address);
            load_misses_++;
            cycle_ = std::max(cycle_, bus_free_) + core_.data.refill_cycles;
        }
        T value;
        std::memcpy(&value, memory_.bytes() + address, sizeof value);
        state_.x[rd] = static_cast<uint32_t>(static_cast<int32_t>(value));
        ready_[rd] = cycle_ + core_.load_cycles;
        return true;
    }

    template<typename T>
    bool store(uint32_t address, uint32_t value) {
        if ((address & (sizeof(T) - 1)) != 0) return refuse(Stop::misaligned, address);
        if (!allowed<T>(memory_, address, Access::read_write)) return refuse(Stop::bad_store, address);
        stores_++;
        const auto bytes = static_cast<T>(value);
        std::memcpy(memory_.bytes() + address, &bytes, sizeof bytes);
        bus_free_ = std::max(bus_free_, cycle_) + core_.store_cycles;
        cycle_ = std::max(cycle_, bus_free_ - core_.pending_stores * core_.store_cycles);
        return true;
    }

    bool write(uint8_t rd, uint32_t value) {
        state_.x[rd] = value;
        ready_[rd] = 0;
        return true;
    }
    bool write_after(int64_t cycles, uint8_t rd, uint32_t value) {
        state_.x[rd] = value;
        ready_[rd] = cycle_ + cycles;
        return true;
    }
    bool write_product(uint8_t rd, uint32_t value) { return write_after(core_.multiply_cycles, rd, value); }
    bool write_shifted(uint8_t rd, uint32_t value) { return write_after(core_.shift_cycles, rd, value); }
    bool write_quotient(uint8_t rd, uint32_t value) {
        cycle_ += core_.divide_cycles;
        return write(rd, value);
    }

    bool refuse(Stop stop, uint32_t address) {
        stop_ = stop, address_ = address;
        return false;
    }
    bool step(const Instruction &i, uint32_t pc, uint32_t *next);
    Counts counts(int64_t instructions) const {
        return {instructions, cycle_, fetch_misses_, loads_, load_misses_, stores_};
    }

    const DecodedCode &code_;
    const CoreDescription &core_;
    CoreState &state_;
    SimulatedMemory &memory_;
    int64_t cycle_ = 0, bus_free_ = 0;
    std::array<int64_t, 33> ready_ = {};  // the cycle from which on a register can be read
    int64_t fetch_misses_ = 0, loads_ = 0, load_misses_ = 0, stores_ = 0;
    Stop stop_ = Stop::returned;
    uint32_t address_ = 0;
};

// False: it stops here. `next` is the instruction behind this one unless it jumps.
inline bool Executor::step(const Instruction &i, uint32_t pc, uint32_t *next) {
    const uint32_t a = state_.x[i.rs1], b = state_.x[i.rs2], c = static_cast<uint32_t>(i.immediate);
    const auto jump = [&](uint32_t to, int64_t cycles) {
        *next = to;
        cycle_ += cycles;
        return true;
    };
    const auto branch = [&](bool taken) {
        const bool predicted = i.immediate < 0;
        if (taken) return jump(pc + c, predicted ? core_.jump_cycles : core_.mispredicted_cycles);
        if (!taken && predicted) cycle_ += core_.mispredicted_cycles;
        return true;
    };
    switch (i.operation) {
        case Opcode::lui:
            return write(i.rd, c);
        case Opcode::auipc:
            return write(i.rd, pc + c);
        case Opcode::jal:
            write(i.rd, pc + 4);
            return jump(pc + c, core_.jump_cycles);
        case Opcode::jalr:
            write(i.rd, pc + 4);
            return jump((a + c) & ~uint32_t{1}, core_.indirect_jump_cycles);
        case Opcode::beq:
            return branch(a == b);
        case Opcode::bne:
            return branch(a != b);
        case Opcode::blt:
            return branch(as_signed(a) < as_signed(b));
        case Opcode::bge:
            return branch(as_signed(a) >= as_signed(b));
        case Opcode::bltu:
            return branch(a < b);
        case Opcode::bgeu:
            return branch(a >= b);
        case Opcode::lb:
            return load<int8_t>(a + c, i.rd);
        case Opcode::lh:
            return load<int16_t>(a + c, i.rd);
        case Opcode::lw:
            return load<int32_t>(a + c, i.rd);
        case Opcode::lbu:
            return load<uint8_t>(a + c, i.rd);
        case Opcode::lhu:
            return load<uint16_t>(a + c, i.rd);
        case Opcode::sb:
            return store<uint8_t>(a + c, b);
        case Opcode::sh:
            return store<uint16_t>(a + c, b);
        case Opcode::sw:
            return store<uint32_t>(a + c, b);
        case Opcode::addi:
            return write(i.rd, a + c);
        case Opcode::slti:
            return write(i.rd, as_signed(a) < i.immediate);
        case Opcode::sltiu:
            return write(i.rd, a < c);
        case Opcode::xori:
            return write(i.rd, a ^ c);
        case Opcode::ori:
            return write(i.rd, a | c);
        case Opcode::andi:
            return write(i.rd, a & c);
        case Opcode::slli:
            return write_shifted(i.rd, a << c);
        case Opcode::srli:
            return write_shifted(i.rd, a >> c);
        case Opcode::srai:
            return write_shifted(i.rd, static_cast<uint32_t>(as_signed(a) >> c));
        case Opcode::add:
            return write(i.rd, a + b);
        case Opcode::sub:
            return write(i.rd, a - b);
        case Opcode::sll:
            return write_shifted(i.rd, a << (b & 31));
        case Opcode::slt:
            return write(i.rd, as_signed(a) < as_signed(b));
        case Opcode::sltu:
            return write(i.rd, a < b);
        case Opcode::xor_:
            return write(i.rd, a ^ b);
        case Opcode::srl:
            return write_shifted(i.rd, a >> (b & 31));
        case Opcode::sra:
            return write_shifted(i.rd, static_cast<uint32_t>(as_signed(a) >> (b & 31)));
        case Opcode::or_:
            return write(i.rd, a | b);
        case Opcode::and_:
            return write(i.rd, a & b);
        case Opcode::mul:
            return write_product(i.rd, a * b);
        case Opcode::mulh:
            return write_product(i.rd, high_part(int64_t{as_signed(a)} * as_signed(b)));
        case Opcode::mulhsu:
            return write_product(i.rd, high_part(int64_t{as_signed(a)} * int64_t{b}));
        case Opcode::mulhu:
            return write_product(i.rd, static_cast<uint32_t>((uint64_t{a} * b) >> 32));
        case Opcode::div:
            return write_quotient(i.rd, divide(a, b));
        case Opcode::divu:
            return write_quotient(i.rd, b == 0 ? ~uint32_t{0} : a / b);
        case Opcode::rem:
            return write_quotient(i.rd, remainder(a, b));
        case Opcode::remu:
            return write_quotient(i.rd, b == 0 ? a : a % b);
        case Opcode::fence:
            return true;
        case Opcode::ecall:
            return refuse(Stop::environment_call, pc);
        case Opcode::ebreak:
            return refuse(Stop::breakpoint, pc);
        case Opcode::illegal:
            return refuse(Stop::illegal_instruction, pc);
    }
    return refuse(Stop::illegal_instruction, pc);
}

Execution Executor::run(const ExecutionLimits &limits) {
    uint32_t pc = limits.start, next = limits.start;
    int64_t instructions = 0;
    const uint32_t in_line = state_.fetched.line_mask(), bytes = code_.bytes();
    const auto stopped = [&](Stop stop, uint32_t address) {
        return Execution{stop, pc, address, counts(instructions)};
    };
    for (;;) {
        // Only what jumps or enters a line is looked at: other instructions are where the one before them was.
        if (next != pc + 4 || (next & in_line) == 0) {
            if (next == limits.return_address) return stopped(Stop::returned, next);
            if (next - code_.begin >= bytes || (next & 3) != 0) return stopped(Stop::left_code, next);
            if (instructions >= limits.most_instructions) return stopped(Stop::too_long, next);
            fetch(next);
        }
        pc = next;
        const Instruction &i = code_.instructions[(pc - code_.begin) >> 2];
        cycle_ = std::max(cycle_ + 1, std::max(ready_[i.rs1], ready_[i.rs2]));
        instructions++;
        next = pc + 4;
        if (!step(i, pc, &next)) return stopped(stop_, address_);
    }
}

}  // namespace

CacheTags::CacheTags(const CacheDescription &cache)
    : shift_(static_cast<uint32_t>(std::countr_zero(static_cast<uint64_t>(cache.line_bytes)))),
      mask_(static_cast<uint32_t>(cache.bytes / cache.line_bytes - 1)),
      lines_(static_cast<size_t>(mask_) + 1, std::numeric_limits<uint32_t>::max()) {}

Execution execute(const DecodedCode &code, const CoreDescription &core, CoreState &state, SimulatedMemory &memory,
                  const ExecutionLimits &limits) {
    return Executor(code, core, state, memory).run(limits);
}

}  // namespace kiln
