#include "package/network/program_reference.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "tuner/reference/bounded_expression.h"
#include "tuner/reference/operands.h"
#include "tuner/reference/reference.h"
#include "workload/signature.h"

namespace kiln::network {
namespace {

constexpr std::byte poison{0xff};  // four of them are a NaN

class Run {
public:
    Run(const Program &program, const std::vector<Bytes> &inputs) : program_(program), inputs_(inputs) {
        for (const Port &port : program.outputs) {
            outputs_.emplace_back(*graph::element_count(port.form.shape) * size_of(port.form.type), poison);
        }
        workspace_.assign(static_cast<size_t>(program.workspace), poison);
    }

    Result<std::vector<Bytes>> run() && {
        for (const Step &step : program_.steps) {
            const Status status = std::visit([&](const auto &work) { return take(work); }, step.work);
            if (!status) return bad_input(step.name + ": " + status.error().message);
        }
        return std::move(outputs_);
    }

private:
    // The bytes from a place on; an error where they end before `bytes`.
    Result<const std::byte *> at(const Place &place, int64_t bytes) const {
        std::span<const std::byte> memory;
        switch (place.memory) {
            case Place::Memory::input:
                memory = inputs_.at(place.index);
                break;
            case Place::Memory::output:
                memory = outputs_.at(place.index);
                break;
            case Place::Memory::constant:
                memory = program_.constants.at(place.index).data.bytes();
                break;
            case Place::Memory::workspace:
                memory = workspace_;
                break;
        }
        if (place.offset < 0 || place.offset + bytes > static_cast<int64_t>(memory.size())) {
            return bad_input("reaches beyond its memory");
        }
        return memory.data() + place.offset;
    }

    Status write(const Place &place, const std::byte *from, int64_t bytes) {
        if (place.memory != Place::Memory::output && place.memory != Place::Memory::workspace) {
            return bad_input("writes what may only be read");
        }
        const Result<const std::byte *> to = at(place, bytes);
        if (!to) return to.error();
        std::memmove(const_cast<std::byte *>(*to), from, static_cast<size_t>(bytes));
        return {};
    }

    template<typename T>
    Status write(const Place &place, const std::vector<double> &numbers) {
        std::vector<T> elements;
        for (const double number : numbers) elements.push_back(static_cast<T>(number));
        return write(place, reinterpret_cast<const std::byte *>(elements.data()),
                     static_cast<int64_t>(elements.size() * sizeof(T)));
    }

    Status write_narrow(const Place &place, const std::vector<double> &numbers, graph::Element type) {
        Bytes bytes(numbers.size() * 2);
        for (size_t i = 0; i < numbers.size(); i++) scalar::write_float(type, numbers[i], bytes.data() + 2 * i);
        return write(place, bytes.data(), std::ssize(bytes));
    }

    Status take(const Copy &copy) {
        for (int64_t row = 0; row < copy.rows; row++) {
            Place from = copy.from, to = copy.to;
            from.offset += row * copy.from_pitch;
            to.offset += row * copy.to_pitch;
            const Result<const std::byte *> source = at(from, copy.row_bytes);
            if (!source) return source.error();
            if (Status status = write(to, *source, copy.row_bytes); !status) return status;
        }
        return {};
    }

    Status take(const KernelCall &call) {
        if (Status status = validate(call.workload); !status) return status;
        Operands operands;
        const std::vector<NamedOperand> list = operand_list(call.workload);
        if (list.size() != call.operands.size()) return bad_input("another number of operands than the workload has");
        for (size_t i = 0; i < list.size(); i++) {
            Tensor tensor = list[i].tensor;
            const int64_t bytes = elements(tensor.shape) * size_of(tensor.dtype);
            const Result<const std::byte *> from = at(call.operands[i], bytes);
            if (!from) return from.error();
            tensor.data.assign(*from, *from + bytes);
            operands.*list[i].place = std::move(tensor);
        }
        const Result<Reference> result = reference(call.workload, operands);
        if (!result) return result.error();
        switch (call.workload.output_dtype) {
            case DType::i8:
                return write<int8_t>(call.result, result->expected);
            case DType::u8:
                return write<uint8_t>(call.result, result->expected);
            case DType::i32:
                return write<int32_t>(call.result, result->expected);
            case DType::f16:
                return write_narrow(call.result, result->expected, graph::Element::f16);
            case DType::bf16:
                return write_narrow(call.result, result->expected, graph::Element::bf16);
            default:
                return write<float>(call.result, result->expected);
        }
    }

    const Program &program_;
    const std::vector<Bytes> &inputs_;
    std::vector<Bytes> outputs_;
    Bytes workspace_;
};

bool is_exact(const Step &step) {
    const auto *call = std::get_if<KernelCall>(&step.work);
    if (!call || !is_nest(call->workload.op)) return true;
    const Nest nest = nest_of(call->workload);
    const bool has_floats = nest.result == graph::Element::f32 || nest.type_of_term() == graph::Element::f32;
    if (!has_floats) return true;
    const bool adds_up =
        nest.reduction == Reduction::sum || nest.reduction == Reduction::mean || nest.reduction == Reduction::product;
    if (adds_up && nest.type_of_term() == graph::Element::f32) return false;
    if (!nest.quantizes()) return nest.term == scalar::operand(0) && nest.finish.steps.size() <= 1;
    return is_defined_exactly(nest.term) && is_defined_exactly(nest.finish);
}

}  // namespace

bool is_exact(const Program &program) {
    return std::ranges::all_of(program.steps, [](const Step &step) { return is_exact(step); });
}

Result<std::vector<Bytes>> run_program(const Program &program, const std::vector<Bytes> &inputs) {
    return Run(program, inputs).run();
}

}  // namespace kiln::network
