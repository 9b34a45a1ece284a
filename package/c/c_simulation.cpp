#include "package/c/c_simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/kernel_abi.h"
#include "simulate/elf32.h"
#include "tuner/process/mapped_file.h"

namespace kiln {
namespace {

constexpr std::byte poison{0xad};

// A program in the memory of a core, with room for what it is called with.
class LoadedProgram {
public:
    static Result<LoadedProgram> load(const std::string &path, int64_t bytes, const CoreDescription &core) {
        const auto file = MappedFile::open(path);
        if (!file) return file.error();
        const auto elf = parse_elf32(file->bytes(), path);
        if (!elf) return elf.error();
        constexpr int64_t room = 1 << 20;  // for the stack, gaps and alignment
        int64_t end = 0;
        for (const Elf32::Segment &segment : elf->segments)
            end = std::max(end, int64_t{segment.address} + segment.memory_bytes);
        const int64_t all = (end + bytes + room) / 64 * 64;
        if (all > SimulatedMemory::most_bytes) {
            return unsupported(fmt::format("{}: needs {} MiB of the simulated core's memory; it has at most {}", path,
                                           all >> 20, SimulatedMemory::most_bytes >> 20));
        }
        auto simulator = Simulator::load(*elf, path, core, {.memory_bytes = all});
        if (!simulator) return simulator.error();
        return LoadedProgram(std::move(*simulator), elf->symbols);
    }

    Result<uint32_t> function(const std::string &name) const {
        const auto found = symbols_.find(name);
        if (found == symbols_.end()) return unsupported("the program has no function " + name);
        return found->second;
    }

    Result<uint32_t> place(std::span<const std::byte> content) {
        const Result<uint32_t> address = simulator.place(int64_t(content.size()), Access::read);
        if (address) std::ranges::copy(content, at(*address, int64_t(content.size())).begin());
        return address;
    }
    Result<uint32_t> place_room(int64_t bytes) {
        const Result<uint32_t> address = simulator.place(bytes, Access::read_write);
        if (address) std::ranges::fill(at(*address, bytes), poison);
        return address;
    }
    std::span<std::byte> at(uint32_t address, int64_t bytes) { return simulator.memory().at(address, bytes); }

    Simulator simulator;

private:
    LoadedProgram(Simulator loaded, std::map<std::string, uint32_t> symbols)
        : simulator(std::move(loaded)), symbols_(std::move(symbols)) {}

    std::map<std::string, uint32_t> symbols_;
};

}  // namespace

Result<Bytes> packed_constants(const PackagedKernel &kernel, const std::vector<std::span<const std::byte>> &operands,
                               const CoreDescription &core) {
    const int64_t packed_bytes = kernel.artifact.packed_bytes, workspace_bytes = kernel.workspace_bytes;
    int64_t bytes = packed_bytes + workspace_bytes + 512;
    for (const auto &operand : operands) bytes += int64_t(operand.size()) + 128;
    auto program = LoadedProgram::load(kernel.artifact.shared_object_path, bytes, core);
    if (!program) return program.error();
    const Result<uint32_t> pack = program->function(pack_symbol);
    if (!pack) return pack.error();
    std::vector<uint32_t> arguments;
    for (const auto &operand : operands) {
        const Result<uint32_t> address = program->place(operand);
        if (!address) return address.error();
        arguments.push_back(*address);
    }
    const Result<uint32_t> packed = program->place_room(packed_bytes), workspace = program->place_room(workspace_bytes);
    if (!packed || !workspace) return packed ? workspace.error() : packed.error();
    arguments.insert(arguments.end(), {*packed, *workspace});
    std::ranges::fill(program->at(*packed, packed_bytes), std::byte{0});  // what it leaves out is zero
    const SimulatedCall call = program->simulator.call(*pack, arguments);
    if (!call.problem.empty()) {
        return unsupported(fmt::format("{}: its constants cannot be packed: {}", kernel.workload.name, call.problem));
    }
    const auto made = program->at(*packed, packed_bytes);
    return Bytes(made.begin(), made.end());
}

Result<std::vector<SimulatedRun>> run_simulated(const std::string &program, const std::string &function,
                                                const std::vector<std::vector<Bytes>> &inputs,
                                                const std::vector<int64_t> &output_bytes, const CoreDescription &core) {
    int64_t bytes = 0;
    for (const int64_t output : output_bytes) bytes += output + 128;
    for (const auto &of_run : inputs) {
        for (const Bytes &input : of_run) bytes += int64_t(input.size()) + 128;
    }
    auto loaded = LoadedProgram::load(program, bytes, core);
    if (!loaded) return loaded.error();
    const Result<uint32_t> address = loaded->function(function);
    if (!address) return address.error();
    std::vector<uint32_t> outputs;
    for (const int64_t output : output_bytes) {
        const Result<uint32_t> place = loaded->place_room(output);
        if (!place) return place.error();
        outputs.push_back(*place);
    }
    std::vector<SimulatedRun> runs;
    for (const auto &of_run : inputs) {
        std::vector<uint32_t> arguments;
        for (const Bytes &input : of_run) {
            const Result<uint32_t> place = loaded->place(input);
            if (!place) return place.error();
            arguments.push_back(*place);
        }
        arguments.insert(arguments.end(), outputs.begin(), outputs.end());
        for (size_t i = 0; i < outputs.size(); i++) std::ranges::fill(loaded->at(outputs[i], output_bytes[i]), poison);
        const SimulatedCall call = loaded->simulator.call(*address, arguments);
        if (!call.problem.empty()) return unsupported(fmt::format("{}(): {}", function, call.problem));
        SimulatedRun run{{}, call.counts, call.stack_bytes};
        for (size_t i = 0; i < outputs.size(); i++) {
            const auto made = loaded->at(outputs[i], output_bytes[i]);
            run.outputs.emplace_back(made.begin(), made.end());
        }
        runs.push_back(std::move(run));
    }
    return runs;
}

}  // namespace kiln
