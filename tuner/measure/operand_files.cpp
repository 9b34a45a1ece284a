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

OperandFiles OperandFiles::for_judging(const Workload &workload, const std::string &prefix) {
    constexpr int sets = 3;
    OperandFiles files(workload, prefix);
    const int64_t reference_bytes = files.result_elements_ * int64_t(sizeof(double));
    for (int set = 0; set < sets; set++) {
        RunnerData data;
        for (const NamedOperand &operand : files.list_) {
            data.operands.push_back(files.new_path(operand.tensor.elements() * size_of(operand.tensor.dtype)));
        }
        data.expected = files.new_path(reference_bytes);
        data.magnitude = files.new_path(reference_bytes);
        files.data_.push_back(std::move(data));
    }
    return files;
}

Status OperandFiles::add(const Operands &operands) {
    RunnerData data;
    for (const NamedOperand &operand : list_) {
        const auto &content = (operands.*operand.place).data;
        data.operands.push_back(new_path(int64_t(content.size())));
        std::ofstream file(data.operands.back(), std::ios::binary | std::ios::trunc);
        file.write(reinterpret_cast<const char *>(content.data()), std::streamsize(content.size()));
        if (!file.flush()) {
            return environment_error(fmt::format("{}: cannot be written: {}", data.operands.back(), strerror(errno)));
        }
    }
    data_.push_back(std::move(data));
    return {};
}

std::string OperandFiles::new_path(int64_t bytes) {
    bytes_ += bytes;
    paths_.push_back(fmt::format("{}-{}", prefix_, paths_.size()));
    return paths_.back();
}

}  // namespace kiln
