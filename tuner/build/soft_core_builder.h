// The builder for soft cores: the generator writes C, a cross compiler makes an object of it, and a linker the program that
// the simulator runs. Which flags the compiler gets is a knob of the candidate.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "tuner/build/builder.h"
#include "tuner/build/generator_builder.h"
#include "tuner/process/child_process.h"

namespace kiln {

class SoftCoreBuilder : public Builder {
public:
    // Asks generator and compiler for their versions. Errors (environment): one of them is missing; the message names the
    // package.
    static Result<std::unique_ptr<SoftCoreBuilder>> create(GeneratorBuilderOptions options);

    Result<BuildResult> build(const BuildRequest &request) override;
    const std::string &toolchain() const override { return toolchain_; }

private:
    struct Files {
        explicit Files(const std::string &stem)
            : source(stem + ".c"),
              object(stem + ".o"),
              program(stem + ".elf"),
              stack(stem + ".su"),
              pack_source(stem + "_pack.c"),
              pack_object(stem + "_pack.o") {}
        std::string source, object, program;
        std::string stack;                     // what the compiler says of it
        std::string pack_source, pack_object;  // of the function that packs, where it is apart
    };
    struct Compiled {
        std::vector<std::string> flags;
        int64_t stack_bytes = 0;
    };
    SoftCoreBuilder(GeneratorBuilderOptions options, std::string compiler, std::string linker)
        : options_(std::move(options)), compiler_(std::move(compiler)), linker_(std::move(linker)) {}

    Status prepare();  // files that every program is linked with
    ChildRequest child(std::vector<std::string> arguments, int cancelled) const;
    Result<Attempt<std::string>> compile(const std::string &text, const std::string &object,
                                         const std::vector<std::string> &flags, int cancelled) const;
    Result<Attempt<Compiled>> compile_within_stack(const std::string &source, const Files &files,
                                                   const BuildRequest &request) const;
    Result<Attempt<std::string>> link(const std::vector<std::string> &objects, const Files &files, int cancelled) const;
    Result<BuildResult> describe(const Files &files, Artifact artifact, int64_t wall_ns) const;

    GeneratorBuilderOptions options_;
    std::string compiler_, linker_, toolchain_;
    std::atomic<int64_t> next_file_ = 0;
};

}  // namespace kiln
