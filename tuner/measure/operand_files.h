// Files of one workload's operands and references, for the measuring process to map; removed with this object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tuner/protocol/runner_protocol.h"
#include "tuner/reference/operands.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

class OperandFiles {
public:
    // `prefix`: of the files' paths. Errors, here and below: one cannot be written (environment).
    OperandFiles(const Workload &workload, std::string prefix);
    OperandFiles(OperandFiles &&) = default;
    OperandFiles &operator=(OperandFiles &&) = delete;
    ~OperandFiles();

    // Room for all that a kernel is judged by: ordinary data, other ordinary data, data of wide range, each with its
    // reference. The measuring process writes it (PrepareJob).
    static OperandFiles for_judging(const Workload &workload, const std::string &prefix);

    Status add(const Operands &operands);

    const OperandPaths &operands() const { return data_.front().operands; }  // of the first that were added
    JudgingData judging_data() const { return {data_.at(0), data_.at(1), data_.at(2)}; }  // precondition: for_judging()
    int64_t bytes() const { return bytes_; }                                              // of all files

    int64_t call_bytes() const { return call_bytes_; }  // of one call's operands and result
    int64_t result_elements() const { return result_elements_; }

private:
    std::string new_path(int64_t bytes);

    std::string prefix_;
    std::vector<NamedOperand> list_;
    int64_t call_bytes_ = 0, result_elements_ = 0;
    std::vector<std::string> paths_;
    std::vector<RunnerData> data_;
    int64_t bytes_ = 0;
};

}  // namespace kiln
