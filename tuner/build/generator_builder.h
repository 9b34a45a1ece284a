// The real builder: runs the generator executable in a process of its own, then the system's linker, and hashes the
// object. A compiler crash, hang or refusal is a Failure.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/build/attempt.h"
#include "tuner/build/builder.h"
#include "tuner/process/child_process.h"

namespace kiln {

struct GeneratorBuilderOptions {
    std::string generator;    // kiln-generator
    std::string work_folder;  // receives the artifacts
    // Limits of a process: a compiler that works needs CPU time, and gets it slowly on a busy machine; one that waits needs
    // none.
    int64_t cpu_limit_ns = 60'000'000'000, time_limit_ns = 300'000'000'000;
    int64_t memory_limit_bytes = int64_t(6) << 30;
    std::optional<int> avoid_cpu;  // where kernels are measured meanwhile
};

class GeneratorBuilder : public Builder {
public:
    // Asks the generator and the linker for their versions. Errors: one of them is missing (environment).
    static Result<std::unique_ptr<GeneratorBuilder>> create(GeneratorBuilderOptions options);

    Result<BuildResult> build(const BuildRequest &request) override;
    const std::string &toolchain() const override { return toolchain_; }

private:
    struct Tools {
        std::string linker, disassembler;
    };

    GeneratorBuilder(GeneratorBuilderOptions options, Tools tools, std::string toolchain);

    // What kiln-generator printed of an object that has only instructions of the target.
    Result<Attempt<std::string>> generate(const BuildRequest &request, const std::string &object) const;
    // The first other instruction; empty: there is none.
    Result<Attempt<std::string>> find_foreign(const BuildRequest &request, const std::string &object) const;
    Result<Attempt<std::string>> link(const BuildRequest &request, const std::string &object,
                                      const std::string &shared_object) const;
    ChildRequest child(const BuildRequest &request, std::vector<std::string> arguments) const;

    GeneratorBuilderOptions options_;
    Tools tools_;
    std::string toolchain_;
    std::atomic<int64_t> next_file_ = 0;
};

}  // namespace kiln
