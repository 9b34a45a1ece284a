// Conformance suites: inputs and expected outputs that other implementations made. A suite is a manifest SUITE.json and
// .npy files beside it; tests/conformance/README.md describes both.
//
// A case becomes a workload with operands, or a network, where kiln has words for it. Elsewhere it has a reason. A manifest
// that contradicts itself is an error, which names file, case and field.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/network_case.h"
#include "check/tolerance.h"
#include "tuner/reference/tensor.h"
#include "workload/result.h"
#include "workload/signature.h"
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
    std::optional<NetworkCase> network;  // in place of a workload
    std::string reason;                  // why there is neither; else empty
    std::optional<SuiteTensor> first, second, bias;
    bool outputs_first = false;  // weights are stored as O, spatial, I, which no kernel_layout is
    // For quantized convolutions: other operands, in files or as numbers.
    std::map<Role, SuiteTensor> others;
    std::map<Role, std::vector<int32_t>> numbers;
    SuiteTensor expected;
    Tolerance tolerance;
    bool judged = true;  // false: a record of what somebody does, not a requirement
};

struct ConformanceSuite {
    std::string name;
    std::vector<ConformanceCase> cases;
};

// The suite in a text; its files lie in the folder of `path`, which is what messages call the manifest.
Result<ConformanceSuite> parse_conformance_suite(std::string_view text, const std::string &path);
Result<ConformanceSuite> read_conformance_suite(const std::string &path);

// Precondition: the case has a workload.
Result<Operands> read_operands(const ConformanceCase &c);
Result<Tensor> read_expected(const ConformanceCase &c);

}  // namespace kiln
