#include "tuner/runner/simulated/simulated_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/kernel_abi.h"
#include "tuner/process/mapped_file.h"
#include "tuner/reference/comparison.h"
#include "tuner/reference/operands.h"

namespace kiln {
namespace {

int64_t bytes_of(const Tensor &tensor) { return tensor.elements() * size_of(tensor.dtype); }

Tensor result_of(const Workload &workload) { return {workload.output_dtype, stored_result_shape(workload), {}}; }

// Room for the program, the stack and gaps, beside everything that a call reads or writes.
int64_t memory_bytes(const SimulatedKernel::Request &request) {
    constexpr int64_t program_bytes = 4 << 20;
    int64_t bytes =
        program_bytes + 2 * request.core.data.bytes + request.kernel.packed_bytes + request.kernel.workspace_bytes;
    bytes += bytes_of(result_of(request.workload));
    for (const NamedOperand &operand : operand_list(request.workload)) bytes += bytes_of(operand.tensor) + 128;
    return bytes;
}

Result<uint32_t> function(const Elf32 &elf, const char *name, const std::string &program) {
    const auto found = elf.symbols.find(name);
    if (found == elf.symbols.end()) return bad_input(fmt::format("{} has no function {}", program, name));
    return found->second;
}

}  // namespace

Result<SimulatedKernel> SimulatedKernel::create(const Request &request) {
    const std::string &program = request.kernel.shared_object;
    const auto file = MappedFile::open(program);
    if (!file) return file.error();
    const auto elf = parse_elf32(file->bytes(), program);
    if (!elf) return elf.error();
    const int64_t bytes = memory_bytes(request);
    if (bytes > SimulatedMemory::most_bytes) {
        return bad_input(fmt::format("the operands need {} MiB of the simulated core's memory; it has at most {}",
                                     bytes >> 20, SimulatedMemory::most_bytes >> 20));
    }
    auto simulator = Simulator::load(*elf, program, request.core, {.memory_bytes = bytes});
    if (!simulator) return simulator.error();
    SimulatedKernel kernel(std::move(*simulator));
    const auto compute = function(*elf, compute_symbol, program);
    if (!compute) return compute.error();
    kernel.compute_ = *compute;
    if (!is_nest(request.workload.op)) {
        const auto pack = function(*elf, pack_symbol, program);
        if (!pack) return pack.error();
        kernel.pack_ = *pack;
    }
    if (Status s = kernel.place_operands(request); !s) return s.error();
    return kernel;
}

Result<SimulatedKernel::Block> SimulatedKernel::place(int64_t bytes, Access access) {
    const auto address = simulator_.place(bytes, access);
    if (!address) return address.error();
    return Block{*address, bytes};
}

Status SimulatedKernel::place_operands(const Request &request) {
    size_t index = 0;
    for (const NamedOperand &operand : operand_list(request.workload)) {
        const auto file = MappedFile::open(request.operands.at(index));
        if (!file) return file.error();
        const int64_t bytes = bytes_of(operand.tensor);
        if (static_cast<int64_t>(file->bytes().size()) != bytes) {
            return environment_error(fmt::format("{}: has {} bytes where {} needs {}", request.operands[index],
                                                 file->bytes().size(), operand.name, bytes));
        }
        const auto block = place(bytes, Access::read);
        if (!block) return block.error();
        std::ranges::copy(file->bytes(), simulator_.memory().at(block->address, bytes).begin());
        (operand.role == Role::input || !pack_ ? arguments_ : pack_arguments_).push_back(block->address);
        index++;
    }
    const auto output = place(bytes_of(result_of(request.workload)), Access::read_write);
    const auto packed = simulator_.place_behind_stack(request.kernel.packed_bytes, Access::read_write);
    const auto workspace = place(request.kernel.workspace_bytes, Access::read_write);
    if (!output) return output.error();
    if (!packed || !workspace) return packed ? workspace.error() : packed.error();
    output_ = *output, packed_ = Block{*packed, request.kernel.packed_bytes}, workspace_ = *workspace;
    if (pack_) arguments_.push_back(packed_.address);
    for (const Block &block : {output_, workspace_}) arguments_.push_back(block.address);
    for (const Block &block : {packed_, workspace_}) pack_arguments_.push_back(block.address);
    return {};
}

SimulatedCall SimulatedKernel::pack() {
    if (!pack_) return {};
    fill_with_poison(simulator_.memory().at(packed_.address, packed_.bytes));
    const SimulatedCall call = simulator_.call(*pack_, pack_arguments_);
    simulator_.memory().protect(packed_.address, packed_.bytes, Access::read);
    return call;
}

// The workspace, too: what a call finds there is what another kernel left.
void SimulatedKernel::poison_output() {
    fill_with_poison(simulator_.memory().at(output_.address, output_.bytes));
    fill_with_poison(simulator_.memory().at(workspace_.address, workspace_.bytes));
}

}  // namespace kiln
