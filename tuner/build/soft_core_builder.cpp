#include "tuner/build/soft_core_builder.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "digest/content_digest.h"
#include "runtime/kernel_abi.h"
#include "schedules/compiler_flags.h"
#include "simulate/elf32.h"
#include "tuner/build/build_step.h"
#include "tuner/build/core_program.h"
#include "tuner/build/cross_compiler.h"
#include "tuner/build/generator_answer.h"
#include "tuner/build/stack_usage.h"
#include "tuner/process/executables.h"

namespace kiln {
namespace {

Result<std::string> content_of(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file) return environment_error(path + ": cannot be read back from the work folder ($TMPDIR)");
    return text;
}

// Both names a kernel: the package ships the source, and what was measured is the object.
Result<std::string> hash_of(const std::vector<std::string> &files) {
    ContentDigest digest;
    for (const std::string &file : files) {
        const Result<std::string> content = content_of(file);
        if (!content) return content.error();
        digest.add_part(*content);
    }
    return digest.text();
}

}  // namespace

Result<std::unique_ptr<SoftCoreBuilder>> SoftCoreBuilder::create(GeneratorBuilderOptions options) {
    if (Status s = check_generator(options); !s) return s.error();
    const auto compiler = find_cross_tool(cross_compiler_name), linker = find_cross_tool(cross_linker_name);
    if (!compiler || !linker) return compiler ? linker.error() : compiler.error();
    const auto generator_version = version_of(options.generator), compiler_version = version_of(*compiler);
    if (!generator_version) return generator_version.error();
    if (!compiler_version) return compiler_version.error();
    std::unique_ptr<SoftCoreBuilder> builder(new SoftCoreBuilder(std::move(options), *compiler, *linker));
    const std::string number = compiler_version->substr(compiler_version->rfind(' ') + 1);
    builder->toolchain_ =
        fmt::format("kiln {} {} {} {}", KILN_VERSION, *generator_version, cross_compiler_name, number);
    if (Status s = builder->prepare(); !s) return s.error();
    return builder;
}

Status SoftCoreBuilder::prepare() {
    const std::string folder = options_.work_folder;
    if (Status s = write_core_files(folder); !s) return s;
    const auto compiled =
        compile(core_memory_functions, folder + "/memory.o", {"-O2", "-fno-tree-loop-distribute-patterns"}, -1);
    if (!compiled) return compiled.error();
    if (compiled->ok()) return {};
    return environment_error(
        fmt::format("{} cannot compile for rv32im: {}; install the package gcc-riscv64-unknown-elf", compiler_,
                    compiled->failure().message));
}

ChildRequest SoftCoreBuilder::child(std::vector<std::string> arguments, int cancelled) const {
    ChildRequest request;
    request.arguments = std::move(arguments);
    request.time_limit_ns = options_.time_limit_ns;
    request.cpu_limit_ns = options_.cpu_limit_ns;
    request.avoid_cpu = options_.avoid_cpu;
    request.cancelled = cancelled;
    return request;
}

// The source comes through a pipe, so that the object names no file.
Result<Attempt<std::string>> SoftCoreBuilder::compile(const std::string &text, const std::string &object,
                                                      const std::vector<std::string> &flags, int cancelled) const {
    std::vector<std::string> arguments = {compiler_, "-x", "c"};
    arguments.insert(arguments.end(), soft_core_flags.begin(), soft_core_flags.end());
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    for (const char *last : {"-fstack-usage", "-c", "-o", object.c_str(), "-"}) arguments.emplace_back(last);
    ChildRequest request = child(std::move(arguments), cancelled);
    request.input = text;
    return run_step(request, cross_compiler_name);
}

// With the first flags whose code has a stack that is small enough for a package, else with those whose stack is the smallest.
Result<Attempt<SoftCoreBuilder::Compiled>> SoftCoreBuilder::compile_within_stack(const std::string &source,
                                                                                 const Files &files,
                                                                                 const BuildRequest &request) const {
    int64_t wall_ns = 0;
    std::optional<Compiled> least;
    const auto attempt = [&](const std::vector<std::string> &flags) -> Result<Attempt<Compiled>> {
        const auto compiled = compile(source, files.object, flags, request.cancelled);
        if (!compiled) return compiled.error();
        wall_ns += compiled->wall_ns;
        if (!compiled->ok()) return Attempt<Compiled>{compiled->failure(), wall_ns};
        const auto text = content_of(files.stack);
        if (!text) return text.error();
        const auto functions = parse_stack_usage(*text, files.stack);
        if (!functions) return functions.error();
        return Attempt<Compiled>{Compiled{flags, most_stack(*functions, pack_symbol)}, wall_ns};
    };
    for (const std::vector<std::string> &flags : compiler_flags(request.candidate)) {
        auto made = attempt(flags);
        if (!made || !made->ok() || made->value().stack_bytes <= most_stack_bytes) return made;
        if (!least || made->value().stack_bytes < least->stack_bytes) least = made->value();
    }
    return attempt(least->flags);
}

Result<Attempt<std::string>> SoftCoreBuilder::link(const std::vector<std::string> &objects, const Files &files,
                                                   int cancelled) const {
    const CoreProgram program{compute_symbol, objects, files.program};
    return run_step(child(link_command(linker_, options_.work_folder, program), cancelled), cross_linker_name);
}

Result<BuildResult> SoftCoreBuilder::build(const BuildRequest &request) {
    const Files files(fmt::format("{}/kernel{}", options_.work_folder, next_file_++));
    const auto generated = run_step(generator_request(options_, request, files.source), "kiln-generator");
    if (!generated) return generated.error();
    if (!generated->ok()) return generated->failed_as<Artifact>();
    const Result<KernelConstants> constants = parse_generator_answer(generated->value());
    if (!constants) return constants.error();
    const auto source = content_of(files.source);
    if (!source) return source.error();
    const auto compiled = compile_within_stack(*source, files, request);
    if (!compiled) return compiled.error();
    int64_t wall_ns = generated->wall_ns + compiled->wall_ns;
    if (!compiled->ok()) return BuildResult{compiled->failure(), wall_ns};
    std::vector<std::string> sources = {files.source}, objects = {files.object};
    if (constants->sources > 1) {
        const auto pack = content_of(files.pack_source);
        if (!pack) return pack.error();
        const auto packing = compile(*pack, files.pack_object, compiled->value().flags, request.cancelled);
        if (!packing) return packing.error();
        wall_ns += packing->wall_ns;
        if (!packing->ok()) return BuildResult{packing->failure(), wall_ns};
        sources.push_back(files.pack_source), objects.push_back(files.pack_object);
    }
    const auto linked = link(objects, files, request.cancelled);
    if (!linked) return linked.error();
    wall_ns += linked->wall_ns;
    if (!linked->ok()) return BuildResult{linked->failure(), wall_ns};

    Artifact artifact;
    artifact.packed_bytes = constants->packed_bytes, artifact.prepared_bytes = constants->prepared_bytes;
    artifact.workspace_bytes = constants->workspace_bytes;
    artifact.code = CSources{std::move(sources), cross_compiler_name, compiled->value().flags};
    artifact.stack_bytes = compiled->value().stack_bytes;
    artifact.shared_object_path = files.program;
    return describe(files, std::move(artifact), wall_ns);
}

// The sizes and the name of what was built.
Result<BuildResult> SoftCoreBuilder::describe(const Files &files, Artifact artifact, int64_t wall_ns) const {
    const auto object = content_of(files.object);
    if (!object) return object.error();
    std::vector<std::string> parts = {files.source, files.object};
    if (std::get<CSources>(artifact.code).paths.size() > 1) {
        const Result<std::string> shared = hash_of(parts);
        if (!shared) return shared.error();
        artifact.shared_code = *shared;
        parts.insert(parts.end(), {files.pack_source, files.pack_object});
    }
    const Result<std::string> hash = hash_of(parts);
    if (!hash) return hash.error();
    artifact.object_hash = *hash;
    artifact.object_bytes = static_cast<int64_t>(object->size());
    auto elf = parse_elf32(std::as_bytes(std::span(*object)), files.object);
    if (!elf) return elf.error();
    std::erase_if(elf->sections, [](const Elf32::Section &s) { return s.name == ".text.kiln_pack"; });
    const ObjectSizes sizes = sizes_of(*elf);
    artifact.text_bytes = sizes.text, artifact.rodata_bytes = sizes.rodata;
    if (sizes.data > 0) {
        const std::string message =
            fmt::format("the kernel has {} bytes of data of its own; it may use none", sizes.data);
        return BuildResult{Failure{TrialStatus::compile_error, message, {}, {}}, wall_ns};
    }
    return BuildResult{std::move(artifact), wall_ns};
}

}  // namespace kiln
