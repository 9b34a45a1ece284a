// Builds candidates: a request in, a kernel artifact or a failure out. The real builder runs the generator in a
// process of its own with time and memory limits; tests use fakes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "records/trial.h"
#include "schedules/candidate.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

// A built kernel on disk, and its facts. The files belong to the builder's work folder and live as long as it.
struct Artifact {
    std::string object_path;         // relocatable object, what a package ships
    std::string shared_object_path;  // the same code linked for dlopen, what the runner measures
    std::string object_hash;         // covers code, read-only data and relocations
    int64_t object_bytes = 0;
    int64_t packed_bytes = 0;    // 0: the algorithm has no pack
    int64_t prepared_bytes = 0;  // 0: the algorithm has no prepare
};

// A step that did not give what was asked for: a row in the database.
struct Failure {
    TrialStatus status = TrialStatus::crash;
    std::string message;
    std::string stderr_text;
};

struct BuildRequest {
    Workload workload;
    Target target;
    Candidate candidate;
    int cancelled = -1;  // a descriptor; readable: the build is no longer wanted, and ends with an interrupt
};

struct BuildResult {
    std::variant<Artifact, Failure> outcome;
    int64_t wall_ns = 0;

    bool ok() const { return std::holds_alternative<Artifact>(outcome); }
    const Artifact &artifact() const { return std::get<Artifact>(outcome); }
    const Failure &failure() const { return std::get<Failure>(outcome); }
};

class Builder {
public:
    virtual ~Builder() = default;

    // Errors are for what no candidate could be blamed for: no generator, no linker, a full disk, an interrupt. May be
    // called by several threads at once.
    virtual Result<BuildResult> build(const BuildRequest &request) = 0;

    // Every compiler that has a hand in an artifact, for the database: "kiln 0.1.0 halide 21.0.0 ld 2.40".
    virtual const std::string &toolchain() const = 0;
};

}  // namespace kiln
