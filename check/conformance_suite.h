// Conformance suites: inputs and expected outputs that other implementations made. A suite is a manifest SUITE.json and
// .npy files beside it; tests/conformance/README.md describes both.
//
// A case becomes a workload with operands where kiln has words for it, and a reason where it has not (yet). That is
// different from a manifest that contradicts itself, which is an error naming file, case and field.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/tolerance.h"
#include "tuner/reference/tensor.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

struct SuiteTensor {
    std::string path;
    DType dtype = DType::f32;
    std::vector<int64_t> shape;  // as stored
};

struct ConformanceCase {
    std::string id;
    std::optional<Workload> workload;
    std::string reason;  // why there is no workload; else empty
    std::optional<SuiteTensor> first, second, bias;
    SuiteTensor expected;
    Tolerance tolerance;
    bool judged = true;  // false: a record of what somebody does, not a requirement
};

struct ConformanceSuite {
    std::string name;
    std::vector<ConformanceCase> cases;
};

Result<ConformanceSuite> read_conformance_suite(const std::string &path);

// Of a case with a workload.
Result<Operands> read_operands(const ConformanceCase &c);
Result<Tensor> read_expected(const ConformanceCase &c);

}  // namespace kiln
