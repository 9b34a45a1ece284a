// Files of one workload's operands and references, for the measuring process to map; removed with this object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tuner/protocol/runner_protocol.h"
#include "tuner/reference/operands.h"
#include "tuner/reference/reference.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

class OperandFiles {
public:
    // `prefix`: of the files' paths. Errors, here and below: one cannot be written (environment).
    explicit OperandFiles(std::string prefix) : prefix_(std::move(prefix)) {}
    OperandFiles(OperandFiles &&) = default;
    OperandFiles &operator=(OperandFiles &&) = delete;
    ~OperandFiles();

    // All that a kernel is judged by: ordinary data, other ordinary data, data of wide range, each with its reference.
    // Errors also: the workload has no reference (unsupported).
    static Result<OperandFiles> for_judging(const Workload &workload, const std::string &prefix);

    Status add(const Workload &workload, const Operands &operands);
    Status add(const Reference &reference);  // of the operands added last

    const std::vector<RunnerData> &data() const { return data_; }
    int64_t bytes() const { return bytes_; }

private:
    Status write(std::span<const std::byte> content, std::string *path);

    std::string prefix_;
    std::vector<std::string> paths_;
    std::vector<RunnerData> data_;
    int64_t bytes_ = 0;
};

}  // namespace kiln
