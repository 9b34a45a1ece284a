#include "tuner/build/generator_builder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "tuner/build/generator_answer.h"
#include "tuner/build/object_file.h"
#include "tuner/process/child_process.h"

namespace kiln {
namespace {

// Exit statuses of kiln-generator, see generators/generator_main.cpp.
constexpr int generator_compile_error = 1, generator_refused = 4;

std::string first_line(const std::string &text) { return text.substr(0, text.find('\n')); }

std::string find_on_path(const std::string &name) {
    const char *path = std::getenv("PATH");
    std::istringstream folders(path ? path : "/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string candidate = folder + "/" + name;
        if (access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return "";
}

Result<std::string> version_of(const std::string &executable) {
    ChildRequest request;
    request.arguments = {executable, "--version"};
    auto child = run_child(request);
    if (!child) return child.error();
    if (child->end != ChildResult::End::exited || child->code != 0) {
        return environment_error(
            fmt::format("{} --version: {}: {}", executable, describe(*child), first_line(child->error_output)));
    }
    return first_line(child->output);
}

bool mentions(const std::string &text, const char *words) { return text.find(words) != std::string::npos; }

// What a generator or linker that did not succeed means: a failed candidate, or a machine that failed us.
Result<Failure> judge(const ChildResult &child, const std::string &what) {
    if (mentions(child.error_output, "No space left on device")) {
        return environment_error(what + ": no space left on the device of the work folder ($TMPDIR)");
    }
    Failure failure{TrialStatus::compile_error, what + ": " + describe(child), child.error_output, {}};
    if (child.end == ChildResult::End::timed_out) {
        failure.status = TrialStatus::compile_timeout;
    } else if (mentions(child.error_output, "bad_alloc") || mentions(child.error_output, "out of memory")) {
        failure.status = TrialStatus::out_of_memory;
    } else if (child.end == ChildResult::End::exited && child.code == generator_refused) {
        failure.status = TrialStatus::refused;
        failure.message = first_line(child.error_output);
    } else if (child.end == ChildResult::End::exited && child.code == generator_compile_error &&
               !child.error_output.empty()) {
        failure.message = first_line(child.error_output);
    }
    return failure;
}

// One process of a build: what it printed, or the failure.
Result<Attempt<std::string>> run_step(const ChildRequest &request, const std::string &what) {
    auto child = run_child(request);
    if (!child) return child.error();
    if (child->end == ChildResult::End::exited && child->code == 0) {
        return Attempt<std::string>{std::move(child->output), child->wall_ns};
    }
    auto failure = judge(*child, what);
    if (!failure) return failure.error();
    return Attempt<std::string>{std::move(*failure), child->wall_ns};
}

}  // namespace

GeneratorBuilder::GeneratorBuilder(GeneratorBuilderOptions options, std::string linker, std::string toolchain)
    : options_(std::move(options)), linker_(std::move(linker)), toolchain_(std::move(toolchain)) {}

Result<std::unique_ptr<GeneratorBuilder>> GeneratorBuilder::create(GeneratorBuilderOptions options) {
    if (access(options.generator.c_str(), X_OK) != 0) {
        return environment_error("the kernel generator is missing: no executable " + options.generator +
                                 "; build kiln with ./setup");
    }
    const std::string linker = find_on_path("ld");
    if (linker.empty()) return environment_error("no linker: `ld` is not on PATH; install the package binutils");
    const auto generator_version = version_of(options.generator), linker_version = version_of(linker);
    if (!generator_version) return generator_version.error();
    if (!linker_version) return linker_version.error();
    const std::string number = linker_version->substr(linker_version->rfind(' ') + 1);
    const std::string toolchain = fmt::format("kiln {} {} ld {}", KILN_VERSION, *generator_version, number);
    return std::unique_ptr<GeneratorBuilder>(new GeneratorBuilder(std::move(options), linker, toolchain));
}

// What kiln-generator printed.
Result<Attempt<std::string>> GeneratorBuilder::generate(const BuildRequest &request, const std::string &object) const {
    ChildRequest child;
    child.arguments = {options_.generator,
                       "--workload",
                       key(request.workload),
                       "--candidate",
                       to_text(request.candidate),
                       "--target",
                       request.target.halide,
                       "--threads",
                       std::to_string(request.target.threads),
                       "-o",
                       object};
    child.time_limit_ns = options_.time_limit_ns;
    child.memory_limit_bytes = options_.memory_limit_bytes;
    child.avoid_cpu = options_.avoid_cpu;
    child.cancelled = request.cancelled;
    return run_step(child, "kiln-generator");
}

// A shared object for the runner; what it needs from Halide's runtime, the runner has.
Result<Attempt<std::string>> GeneratorBuilder::link(const std::string &object, const std::string &shared_object,
                                                    int cancelled) const {
    ChildRequest child;
    child.arguments = {linker_, "-shared", "-z", "now", "-z", "noexecstack", "-o", shared_object, object};
    child.time_limit_ns = options_.time_limit_ns;
    child.avoid_cpu = options_.avoid_cpu;
    child.cancelled = cancelled;
    return run_step(child, "ld");
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
    const auto linked = link(object, artifact.shared_object_path, request.cancelled);
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
