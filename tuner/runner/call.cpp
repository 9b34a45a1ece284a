#include "tuner/runner/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/subnormals_as_zeros.h"
#include "tuner/process/mapped_file.h"
#include "tuner/reference/comparison.h"

namespace kiln {

namespace {

halide_type_t halide_type(DType dtype) {
    switch (dtype) {
        case DType::f16:
            return halide_type_t(halide_type_float, 16);
        case DType::bf16:
            return halide_type_t(halide_type_bfloat, 16);
        case DType::i8:
            return halide_type_t(halide_type_int, 8);
        case DType::i32:
            return halide_type_t(halide_type_int, 32);
        case DType::u8:
            return halide_type_t(halide_type_uint, 8);
        case DType::f32:
            break;
    }
    return halide_type_t(halide_type_float, 32);
}

// In Halide's order, innermost first.
std::vector<halide_dimension_t> dense_dimensions(const std::vector<int64_t> &shape) {
    std::vector<halide_dimension_t> dimensions;
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        dimensions.emplace_back(0, int32_t(shape[d]), int32_t(stride));
        stride *= shape[d];
    }
    return dimensions;
}

// Cache lines apart, so that the operands of a timed call do not all compete for the same sets of the L1 cache.
constexpr size_t scatter_bytes = 10 * 64;

BufferRequest buffer_request(const char *name, size_t bytes, size_t alignment, Call::Place place, size_t index) {
    switch (place) {
        case Call::Place::end_at_guard:
            return {name, bytes, alignment, Placement::end_at_guard};
        case Call::Place::start_at_guard:
            return {name, bytes, alignment, Placement::start_at_guard};
        case Call::Place::scattered:
            break;
    }
    return {name, bytes, 64, Placement::start_at_guard, index * scatter_bytes % 4096};
}

}  // namespace

// Tensors of users may count on the alignment of their elements, and on no more.
Result<Call::ArgumentPointer> Call::make_tensor(const char *name, const Tensor &tensor, Place place, size_t index) {
    const size_t element_bytes = size_t(size_of(tensor.dtype));
    const size_t bytes = size_t(tensor.elements()) * element_bytes;
    return make_argument(buffer_request(name, bytes, element_bytes, place, index), halide_type(tensor.dtype),
                         dense_dimensions(tensor.shape));
}

// Opaque bytes, such as packed weights, may count on a cache line.
Result<Call::ArgumentPointer> Call::make_bytes(const char *name, int64_t bytes, Place place, size_t index) {
    return make_argument(buffer_request(name, size_t(bytes), 64, place, index), halide_type_t(halide_type_uint, 8),
                         dense_dimensions({bytes}));
}

Result<Call::ArgumentPointer> Call::make_argument(const BufferRequest &request, halide_type_t type,
                                                  std::vector<halide_dimension_t> dimensions) {
    auto memory = GuardedBuffer::allocate(request);
    if (!memory) {
        return memory.error();
    }
    ArgumentPointer argument(new Argument{std::move(*memory), std::move(dimensions)});
    argument->buffer.host = reinterpret_cast<uint8_t *>(argument->memory.data().data());
    argument->buffer.type = type;
    argument->buffer.dimensions = int32_t(argument->dimensions.size());
    argument->buffer.dim = argument->dimensions.data();
    return argument;
}

Result<std::unique_ptr<Call>> Call::create(const RunnerKernel &kernel, const Workload &workload,
                                           const OperandPaths &operands, Place place) {
    auto call = std::make_unique<Call>();
    size_t index = 0;
    for (const NamedOperand &operand : operand_list(workload)) {
        auto argument = make_tensor(operand.name.data(), operand.tensor, place, index);
        if (!argument) {
            return argument.error();
        }
        auto file = MappedFile::open(operands.at(index));
        if (!file) {
            return file.error();
        }
        const std::span<std::byte> memory = (*argument)->memory.data();
        if (file->bytes().size() != memory.size()) {
            return environment_error(fmt::format("{}: has {} bytes where {} needs {}", operands[index],
                                                 file->bytes().size(), operand.name, memory.size()));
        }
        std::copy(file->bytes().begin(), file->bytes().end(), memory.begin());
        (*argument)->memory.set_read_only(true);
        call->roles_.push_back(operand.role);
        call->operands_.push_back(std::move(*argument));
        index++;
    }
    const auto take = [&](Result<ArgumentPointer> argument, ArgumentPointer *to) -> Status {
        if (!argument) return argument.error();
        fill_with_poison((*argument)->memory.data());
        *to = std::move(*argument);
        return {};
    };
    const Tensor result{workload.output_dtype, stored_result_shape(workload), {}};
    for (const Status &made :
         {take(make_bytes("the packed weights", kernel.packed_bytes, place, index), &call->packed_),
          take(make_bytes("the prepared input", kernel.prepared_bytes, place, index + 1), &call->prepared_),
          take(make_tensor(result_name(workload).data(), result, place, index + 2), &call->output_)}) {
        if (!made) return made.error();
    }
    return call;
}

const Call::ArgumentPointer *Call::operand(Role role) const {
    const auto found = std::find(roles_.begin(), roles_.end(), role);
    return found == roles_.end() ? nullptr : &operands_[size_t(found - roles_.begin())];
}

int Call::prepare(const LoadedKernel &kernel, KernelContext &context) {
    const SubnormalsAsZeros mode;
    KernelContext *user_context = &context;
    struct Step {
        ArgvFunction function;
        const ArgumentPointer *from;
        Argument &to;
    };
    for (const Step &step : {Step{kernel.pack(), operand(Role::weights), *packed_},
                             Step{kernel.prepare(), operand(Role::input), *prepared_}}) {
        if (!step.function || !step.from) {
            continue;
        }
        void *arguments[] = {&user_context, &(*step.from)->buffer, &step.to.buffer};
        if (const int code = step.function(arguments)) {
            return code;
        }
        step.to.memory.set_read_only(true);
    }
    return 0;
}

int Call::compute(const LoadedKernel &kernel, KernelContext &context) {
    KernelContext *user_context = &context;
    std::vector<void *> arguments = {&user_context};  // context, operands in their order, output
    for (size_t i = 0; i < operands_.size(); i++) {
        const bool is_packed = roles_[i] == Role::weights && kernel.pack();
        const bool is_prepared = roles_[i] == Role::input && kernel.prepare();
        const ArgumentPointer &argument = is_packed ? packed_ : is_prepared ? prepared_ : operands_[i];
        arguments.push_back(&argument->buffer);
    }
    arguments.push_back(&output_->buffer);
    const SubnormalsAsZeros mode;
    return kernel.compute()(arguments.data());
}

void Call::poison_output() { fill_with_poison(output_->memory.data()); }

void Call::lay_on_output(Role role) {
    Argument &argument = **operand(role);
    std::ranges::copy(argument.memory.data(), output_->memory.data().begin());
    argument.buffer.host = output_->buffer.host;
}

std::span<const std::byte> Call::weights() const {
    const std::span<const std::byte> packed = packed_->memory.data();
    const ArgumentPointer *plain = operand(Role::weights);
    return packed.empty() && plain ? std::span<const std::byte>((*plain)->memory.data()) : packed;
}

std::vector<std::span<const std::byte>> Call::activations() const {
    std::vector<std::span<const std::byte>> spans = {output(), prepared_->memory.data()};
    for (size_t i = 0; i < operands_.size(); i++) {
        if (roles_[i] != Role::weights) {
            spans.push_back(operands_[i]->memory.data());
        }
    }
    return spans;
}

}  // namespace kiln
