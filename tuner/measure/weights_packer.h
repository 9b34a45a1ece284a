// Packs weights ahead of time, with the function of the kernel that will read them.
#pragma once

#include <string>
#include <utility>

#include "tuner/build/attempt.h"
#include "tuner/build/builder.h"
#include "tuner/measure/process_runner.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

struct PackRequest {
    Workload workload;
    Artifact artifact;    // with packed_bytes
    std::string weights;  // a file with the elements as the workload stores them
    std::string packed;   // a file with packed_bytes bytes, written
};

class WeightsPacker {
public:
    virtual ~WeightsPacker() = default;

    // A failure is the kernel's. Errors are for what it cannot be blamed for.
    virtual Result<Attempt<bool>> pack(const PackRequest &request) = 0;
};

// A measuring process for each request.
class ProcessWeightsPacker : public WeightsPacker {
public:
    explicit ProcessWeightsPacker(ProcessRunnerOptions options) : options_(std::move(options)) {}

    Result<Attempt<bool>> pack(const PackRequest &request) override;

private:
    ProcessRunnerOptions options_;
};

}  // namespace kiln
