#include "simulate/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace kiln {
namespace {

// Registers of the calling convention.
constexpr size_t ra = 1, sp = 2, a0 = 10;
constexpr size_t register_arguments = 8;

// Where calls return to. No segment can lie there.
constexpr uint32_t return_address = 0x100;

// What the stack holds before a call. A kernel that writes just this to its deepest word hides four bytes.
constexpr std::byte paint{0xa5};

}  // namespace

Result<Simulator> Simulator::load(const Elf32 &elf, const std::string &name, const CoreDescription &core,
                                  const SimulationLimits &limits) {
    Simulator simulator(core, limits);
    if (Status s = simulator.load_segments(elf); !s) return bad_input(name + ": " + s.error().message);
    if (simulator.code_.instructions.empty()) return bad_input(name + ": has no executable segment; link it first");
    const auto stack = simulator.memory_.allocate(limits.stack_bytes, 64, Access::read_write);
    if (!stack) return bad_input(name + ": the stack: " + stack.error().message);
    simulator.stack_ = *stack;
    return simulator;
}

Status Simulator::load_segments(const Elf32 &elf) {
    for (const Elf32::Segment &segment : elf.segments) {
        if (segment.address < lowest_address) {
            return bad_input(
                fmt::format("a segment lies at {:#x}; needs {:#x} or above", segment.address, lowest_address));
        }
        if (Status s = memory_.map(segment.address, segment.memory_bytes,
                                   segment.writable ? Access::read_write : Access::read);
            !s) {
            return s;
        }
        std::ranges::copy(segment.content, memory_.at(segment.address, segment.memory_bytes).begin());
        if (!segment.executable) continue;
        if (Status s = load_code(segment); !s) return s;
    }
    return {};
}

Status Simulator::load_code(const Elf32::Segment &segment) {
    if (!code_.instructions.empty()) return bad_input("has two executable segments; link the code into one");
    if (segment.address % 4 != 0)
        return bad_input(fmt::format("its code lies at {:#x}; needs a multiple of 4", segment.address));
    code_.begin = segment.address;
    for (size_t at = 0; at + 4 <= segment.content.size(); at += 4) {
        uint32_t word;
        std::memcpy(&word, segment.content.data() + at, sizeof word);
        code_.instructions.push_back(decode(word));
    }
    code_.instructions.push_back({});
    return {};
}

Result<uint32_t> Simulator::place_behind_stack(int64_t bytes, Access access) {
    const auto cache = static_cast<uint32_t>(core_.data.bytes);
    const auto begin = memory_.allocate(0, cache, access);
    if (!begin) return begin.error();
    const uint32_t address = *begin + (stack_ + static_cast<uint32_t>(limits_.stack_bytes)) % cache;
    if (Status s = memory_.map(address, bytes, access); !s) return s.error();
    return address;
}

SimulatedCall Simulator::call(uint32_t function, const std::vector<uint32_t> &arguments) {
    const std::span<std::byte> stack = memory_.at(stack_, limits_.stack_bytes);
    std::ranges::fill(stack, paint);
    // Those that find no register lie at the stack pointer, which is a multiple of 16.
    const size_t on_stack = arguments.size() > register_arguments ? arguments.size() - register_arguments : 0;
    const auto passed_bytes = static_cast<uint32_t>((4 * on_stack + 15) / 16 * 16);
    const uint32_t pointer = stack_ + static_cast<uint32_t>(limits_.stack_bytes) - passed_bytes;
    state_.x = {};
    state_.x[ra] = return_address;
    state_.x[sp] = pointer;
    for (size_t i = 0; i < arguments.size(); i++) {
        if (i < register_arguments) {
            state_.x[a0 + i] = arguments[i];
        } else {
            std::memcpy(memory_.at(pointer, passed_bytes).data() + 4 * (i - register_arguments), &arguments[i], 4);
        }
    }
    const Execution execution =
        execute(code_, core_, state_, memory_, {function, return_address, limits_.instructions});
    const auto deepest = std::ranges::find_if(stack, [](std::byte b) { return b != paint; });
    const int64_t unused = deepest - stack.begin(), below = limits_.stack_bytes - passed_bytes;
    return {state_.x[a0], execution.counts, std::max<int64_t>(0, below - unused), problem_of(execution)};
}

std::string Simulator::problem_of(const Execution &e) {
    const std::string where = fmt::format(" (instruction at {:#x})", e.pc);
    const uint32_t code_end = code_.begin + code_.bytes();
    // A frame that has no place meets whatever lies below the stack.
    const std::string whose = state_.x[sp] < stack_ ? fmt::format("; the stack has {} bytes", limits_.stack_bytes) : "";
    switch (e.stop) {
        case Stop::returned:
            return "";
        case Stop::illegal_instruction: {
            if (e.pc == code_end) return fmt::format("the code ends at {:#x} without a return", code_end);
            uint32_t word;
            std::memcpy(&word, memory_.bytes() + e.pc, sizeof word);
            return refusal(word) + where;
        }
        case Stop::environment_call:
            return "an environment call, which nobody answers" + where;
        case Stop::breakpoint:
            return "a breakpoint" + where;
        case Stop::left_code:
            return fmt::format("a jump to {:#x}, where no instruction lies{}", e.address, where);
        case Stop::bad_load:
            return fmt::format("a load from {:#x}, outside of every operand{}{}", e.address, whose, where);
        case Stop::bad_store:
            return fmt::format("a store to {:#x}, which it may not write{}{}", e.address, whose, where);
        case Stop::misaligned:
            return fmt::format("a misaligned access to {:#x}{}", e.address, where);
        case Stop::too_long:
            return fmt::format("no end after {} instructions{}", limits_.instructions, where);
    }
    return "unknown";
}

}  // namespace kiln
