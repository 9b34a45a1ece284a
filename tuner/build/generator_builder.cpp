#include "tuner/build/generator_builder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/build/build_step.h"
#include "tuner/build/generator_answer.h"
#include "tuner/build/object_file.h"
#include "tuner/process/executables.h"

namespace kiln {

namespace {

Result<std::string> tool(const char *name, const char *purpose) {
    std::string path = find_executable(name);
    if (!path.empty()) return path;
    return environment_error(fmt::format(
        "no {}: `{}` is in none of the folders of PATH that begin with a slash; install the package binutils", purpose,
        name));
}

}  // namespace

GeneratorBuilder::GeneratorBuilder(GeneratorBuilderOptions options, Tools tools, std::string toolchain)
    : options_(std::move(options)), tools_(std::move(tools)), toolchain_(std::move(toolchain)) {}

Result<std::unique_ptr<GeneratorBuilder>> GeneratorBuilder::create(GeneratorBuilderOptions options) {
    if (Status s = check_generator(options); !s) return s.error();
    auto linker = tool("ld", "linker"), disassembler = tool("objdump", "disassembler");
    if (!linker) return linker.error();
    if (!disassembler) return disassembler.error();
    const auto generator_version = version_of(options.generator), linker_version = version_of(*linker);
    if (!generator_version) return generator_version.error();
    if (!linker_version) return linker_version.error();
    const std::string number = linker_version->substr(linker_version->rfind(' ') + 1);
    const std::string toolchain = fmt::format("kiln {} {} ld {}", KILN_VERSION, *generator_version, number);
    return std::unique_ptr<GeneratorBuilder>(
        new GeneratorBuilder(std::move(options), {*linker, *disassembler}, toolchain));
}

ChildRequest GeneratorBuilder::child(const BuildRequest &request, std::vector<std::string> arguments) const {
    ChildRequest child;
    child.arguments = std::move(arguments);
    child.time_limit_ns = options_.time_limit_ns;
    child.cpu_limit_ns = options_.cpu_limit_ns;
    child.avoid_cpu = options_.avoid_cpu;
    child.cancelled = request.cancelled;
    return child;
}

Result<Attempt<std::string>> GeneratorBuilder::find_foreign(const BuildRequest &request,
                                                            const std::string &object) const {
    if (!needs_check_of_instructions(request.target)) return Attempt<std::string>{};
    ChildRequest disassembly = child(request, {tools_.disassembler, "-d", "--no-show-raw-insn", object});
    disassembly.output_limit_bytes = size_t{1} << 30;
    auto printed = run_step(disassembly, "objdump");
    if (!printed || !printed->ok()) return printed;
    return Attempt<std::string>{foreign_instruction(printed->value()).value_or(""), printed->wall_ns};
}

// A slower kernel is better than none: there are layers all of whose candidates have foreign instructions at first.
Result<Attempt<std::string>> GeneratorBuilder::generate(const BuildRequest &request, const std::string &object) const {
    int64_t wall_ns = 0;
    std::string foreign;
    for (const bool has_vnni : {true, false}) {
        ChildRequest generator = generator_request(options_, request, object);
        if (!has_vnni) generator.arguments.push_back("--without-vnni");
        auto generated = run_step(generator, "kiln-generator");
        if (!generated) return generated;
        generated->wall_ns = wall_ns += generated->wall_ns;
        if (!generated->ok()) return generated;
        auto found = find_foreign(request, object);
        if (!found) return found;
        generated->wall_ns = found->wall_ns = wall_ns += found->wall_ns;
        if (!found->ok()) return found;
        if (found->value().empty()) return generated;
        foreign = found->value();
    }
    std::string message = fmt::format("the compiler used `{}`, which CPUs of the target need not have", foreign);
    return Attempt<std::string>{Failure{TrialStatus::compile_error, std::move(message), {}, {}}, wall_ns};
}

// A shared object for the runner; what it needs from Halide's runtime, the runner has.
Result<Attempt<std::string>> GeneratorBuilder::link(const BuildRequest &request, const std::string &object,
                                                    const std::string &shared_object) const {
    return run_step(
        child(request, {tools_.linker, "-shared", "-z", "now", "-z", "noexecstack", "-o", shared_object, object}),
        "ld");
}

Result<BuildResult> GeneratorBuilder::build(const BuildRequest &request) {
    const std::string stem = fmt::format("{}/kernel{}", options_.work_folder, next_file_++);
    const std::string object = stem + ".o";
    Artifact artifact;
    artifact.code = ObjectFile{object};
    artifact.shared_object_path = stem + ".so";

    const auto generated = generate(request, object);
    if (!generated) return generated.error();
    if (!generated->ok()) return generated->failed_as<Artifact>();
    const auto linked = link(request, object, artifact.shared_object_path);
    if (!linked) return linked.error();
    const int64_t wall_ns = generated->wall_ns + linked->wall_ns;
    if (!linked->ok()) return BuildResult{linked->failure(), wall_ns};

    const Result<KernelConstants> constants = parse_generator_answer(generated->value());
    if (!constants) return constants.error();
    artifact.packed_bytes = constants->packed_bytes, artifact.prepared_bytes = constants->prepared_bytes;
    auto hash = object_hash(object);
    if (!hash) return hash.error();
    artifact.object_hash = std::move(*hash);
    struct stat status {};
    if (stat(object.c_str(), &status) == 0) artifact.object_bytes = status.st_size;
    return BuildResult{std::move(artifact), wall_ns};
}

}  // namespace kiln
