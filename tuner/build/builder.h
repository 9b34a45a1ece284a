// Builds candidates: a request in, a kernel artifact or a failure out. The real builder runs the generator in a
// process of its own with time and memory limits; tests use fakes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "schedules/candidate.h"
#include "tuner/build/attempt.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

// A package ships one of these for each kernel: code for a linker, or sources for the user's C compiler.
struct ObjectFile {
    std::string path;  // relocatable
};
struct CSources {
    std::vector<std::string> paths;       // the kernel, and the function that packs weights where that is apart
    std::string compiler;                 // that they are meant for and were measured with, as the toolchain calls it
    std::vector<std::string> flags = {};  // that it got beside those of every kernel
};

// A built kernel on disk, and its facts. The files belong to the builder's work folder and live as long as it.
struct Artifact {
    std::variant<ObjectFile, CSources> code;
    std::string
        shared_object_path;   // the same code linked, for dlopen or for a simulated core: what the runner measures
    std::string object_hash;  // covers code, read-only data and relocations
    // The same of C sources whose code does not depend on sizes, without the function that packs: layers of other sizes may
    // have it, too. Empty: of no other layer.
    std::string shared_code;
    int64_t object_bytes = 0;
    int64_t packed_bytes = 0;    // 0: the algorithm has no pack
    int64_t prepared_bytes = 0;  // 0: the algorithm has no prepare
    // Sizes of C sources, as compiled here, without the function that packs weights.
    int64_t text_bytes = 0, rodata_bytes = 0;
    int64_t workspace_bytes = 0;
    int64_t stack_bytes = 0;  // the most that its functions can use, of C sources
};

// The relocatable object of an artifact, for what works with nothing else. The error says what there is instead.
Result<std::string> object_path(const Artifact &artifact);

struct BuildRequest {
    Workload workload;
    Target target;
    Candidate candidate;
    int cancelled = -1;  // a descriptor; readable: the build is no longer wanted, and ends with an interrupt
};

using BuildResult = Attempt<Artifact>;

class Builder {
public:
    virtual ~Builder() = default;

    // Errors are for what no candidate could be blamed for: no generator, no linker, a full disk, an interrupt. May be
    // called by several threads at once.
    virtual Result<BuildResult> build(const BuildRequest &request) = 0;

    // Every compiler that has a hand in an artifact, each with its version, for the database: "kiln 0.1.0 halide 21.0.0
    // ld 2.40". What another compiler makes is another toolchain's.
    virtual const std::string &toolchain() const = 0;
};

}  // namespace kiln
