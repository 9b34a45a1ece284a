#include "tuner/measure/operand_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace kiln {

OperandFiles::OperandFiles(const Workload &workload, std::string prefix)
    : prefix_(std::move(prefix)),
      list_(operand_list(workload)),
      result_elements_(elements(stored_result_shape(workload))) {
    call_bytes_ = result_elements_ * size_of(workload.output_dtype);
    for (const NamedOperand &operand : list_) call_bytes_ += operand.tensor.elements() * size_of(operand.tensor.dtype);
}

OperandFiles::~OperandFiles() {
    for (const std::string &path : paths_) {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
}

Result<OperandFiles> OperandFiles::for_judging(const Workload &workload, const std::string &prefix) {
    OperandFiles files(workload, prefix);
    struct DataSet {
        Data data;
        uint64_t seed;
    };
    for (const DataSet &set : {DataSet{Data::ordinary, 1}, {Data::ordinary, 2}, {Data::wide, 3}}) {
        const Operands operands = make_operands(workload, set.data, set.seed);
        const auto expected = reference(workload, operands);
        if (!expected) {
            return expected.error();
        }
        if (Status status = files.add(operands); !status) {
            return status.error();
        }
        if (Status status = files.add(*expected); !status) {
            return status.error();
        }
    }
    return files;
}

Status OperandFiles::add(const Operands &operands) {
    RunnerData data;
    for (const NamedOperand &operand : list_) {
        const auto &content = (operands.*operand.place).data;
        data.operands.emplace_back();
        if (Status status = write(std::as_bytes(std::span(content)), &data.operands.back()); !status) {
            return status;
        }
    }
    data_.push_back(std::move(data));
    return {};
}

Status OperandFiles::add(const Reference &reference) {
    if (Status status = write(std::as_bytes(std::span(reference.expected)), &data_.back().expected); !status) {
        return status;
    }
    return write(std::as_bytes(std::span(reference.magnitude)), &data_.back().magnitude);
}

Status OperandFiles::write(std::span<const std::byte> content, std::string *path) {
    *path = fmt::format("{}-{}", prefix_, paths_.size());
    paths_.push_back(*path);
    bytes_ += int64_t(content.size());
    std::ofstream file(*path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char *>(content.data()), std::streamsize(content.size()));
    if (!file.flush()) {
        return environment_error(fmt::format("{}: cannot be written: {}", *path, strerror(errno)));
    }
    return {};
}

}  // namespace kiln
