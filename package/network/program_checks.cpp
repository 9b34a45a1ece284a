#include "package/network/program_checks.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "workload/signature.h"

namespace kiln {
namespace {

using graph::Place;
using network::Program;

// Bytes of the memory that a place is in; nothing where there is no such memory.
std::optional<int64_t> memory_bytes(const Program &program, const Place &place) {
    const auto at = [&](const auto &list, auto bytes) -> std::optional<int64_t> {
        if (place.index < 0 || size_t(place.index) >= list.size()) return {};
        return bytes(list[size_t(place.index)]);
    };
    const auto port_bytes = [](const network::Port &port) {
        const Result<int64_t> count = graph::element_count(port.form.shape);
        return count ? *count * graph::size_of(port.form.type) : int64_t(-1);
    };
    switch (place.memory) {
        case Place::Memory::input:
            return at(program.inputs, port_bytes);
        case Place::Memory::output:
            return at(program.outputs, port_bytes);
        case Place::Memory::constant:
            return at(program.constants, [](const network::Constant &c) { return int64_t(c.data.bytes().size()); });
        case Place::Memory::workspace:
            break;
    }
    return program.workspace;
}

class ProgramCheck {
public:
    explicit ProgramCheck(const Program &program) : program_(program) {}

    Status check(const network::Step &step) const {
        const auto *copy = std::get_if<network::Copy>(&step.work);
        const Status status = copy ? check_copy(*copy) : check_call(std::get<network::KernelCall>(step.work));
        return status.ok() ? status
                           : unsupported(fmt::format("fault of kiln's in {}: {}", step.name, status.error().message));
    }

private:
    Status check_range(const Place &place, int64_t bytes, bool is_written) const {
        const std::optional<int64_t> all = memory_bytes(program_, place);
        if (!all) return unsupported("a place outside of all memory");
        const bool is_read_only = place.memory == Place::Memory::input || place.memory == Place::Memory::constant;
        if (is_written && is_read_only) return unsupported("it writes what may only be read");
        if (place.offset < 0 || place.offset > *all || bytes > *all - place.offset) {
            return unsupported(fmt::format("{} bytes at {} of {}", bytes, place.offset, *all));
        }
        return {};
    }

    Status check_copy(const network::Copy &copy) const {
        if (copy.rows < 0 || copy.row_bytes < 0 ||
            (copy.rows > 1 && (copy.from_pitch < 0 || copy.to_pitch < copy.row_bytes))) {
            return unsupported("a copy with sizes that cannot be");
        }
        if (copy.rows == 0) return {};
        const auto spanned = [&](int64_t pitch) { return (copy.rows - 1) * pitch + copy.row_bytes; };
        if (Status s = check_range(copy.from, spanned(copy.from_pitch), false); !s) return s;
        return check_range(copy.to, spanned(copy.to_pitch), true);
    }

    Status check_call(const network::KernelCall &call) const {
        const Signature forms = signature(call.workload);
        if (call.operands.size() != forms.operands.size()) {
            return unsupported(
                fmt::format("{} operands where its workload has {}", call.operands.size(), forms.operands.size()));
        }
        for (size_t i = 0; i < call.operands.size(); i++) {
            if (Status s = check_range(call.operands[i], forms.operands[i].bytes(), false); !s) return s;
        }
        return check_range(call.result, forms.result.bytes(), true);
    }

    const Program &program_;
};

bool writes_nothing(const network::Step &step) {
    if (const auto *copy = std::get_if<network::Copy>(&step.work)) return copy->rows == 0 || copy->row_bytes == 0;
    return signature(std::get<network::KernelCall>(step.work).workload).result.bytes() == 0;
}

}  // namespace

Status check_program(const network::Program &program) {
    if (program.workspace < 0) return unsupported("fault of kiln's: a negative workspace");
    for (const network::Step &step : program.steps) {
        if (Status s = ProgramCheck(program).check(step); !s) return s;
    }
    return {};
}

network::Program without_idle_steps(network::Program program) {
    std::erase_if(program.steps, writes_nothing);
    return program;
}

}  // namespace kiln
