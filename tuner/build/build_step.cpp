#include "tuner/build/build_step.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tuner/build/killed_build.h"
#include "tuner/process/address_space.h"

namespace kiln {
namespace {

// Exit statuses of kiln-generator, see generators/generator_main.cpp.
constexpr int generator_compile_error = 1, generator_refused = 4;

std::string first_line(const std::string &text) { return text.substr(0, text.find('\n')); }

bool mentions(const std::string &text, const char *words) { return text.find(words) != std::string::npos; }

// A generator or linker did not succeed: either the candidate failed, or the machine did.
Result<Failure> judge(const ChildRequest &request, const ChildResult &child, const std::string &what) {
    if (mentions(child.error_output, "No space left on device")) {
        return environment_error(what + ": no space left on the device of the work folder ($TMPDIR)");
    }
    for (const char *problem : {"File too large", "Disk quota exceeded"}) {
        if (mentions(child.error_output, problem)) {
            return environment_error(fmt::format("{}: a file in the work folder ($TMPDIR): {}", what, problem));
        }
    }
    Failure failure{TrialStatus::compile_error, what + ": " + describe(child), child.error_output, {}};
    if (child.end == ChildResult::End::timed_out) {
        failure.status = TrialStatus::compile_timeout;
    } else if (mentions(child.error_output, "bad_alloc") || mentions(child.error_output, "out of memory")) {
        failure.status = TrialStatus::out_of_memory;
        if (request.memory_limit_bytes > most_address_space()) return starved_failure(what, child);
    } else if (child.end == ChildResult::End::exited && child.code == generator_refused) {
        failure.status = TrialStatus::refused;
        failure.message = first_line(child.error_output);
    } else if (child.end == ChildResult::End::exited && child.code == generator_compile_error &&
               !child.error_output.empty()) {
        failure.message = first_line(child.error_output);
    }
    return failure;
}

// Runs a process, and again where it was killed or crashed, as often as that may be by chance.
Result<ChildResult> run_to_its_end(const ChildRequest &request) {
    for (int attempt = 1;; attempt++) {
        auto child = run_child(request);
        const bool again = child && ((was_killed(*child) && attempt < killed_attempts) ||
                                     (is_crash(*child) && attempt < crashed_attempts));
        if (!again) return child;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));  // what took the memory may end
    }
}

}  // namespace

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

Result<Attempt<std::string>> run_step(const ChildRequest &request, const std::string &what) {
    auto child = run_to_its_end(request);
    if (!child) return child.error();
    if (child->end == ChildResult::End::exited && child->code == 0) {
        return Attempt<std::string>{std::move(child->output), child->wall_ns};
    }
    if (was_killed(*child)) return Attempt<std::string>{killed_failure(what, *child), child->wall_ns};
    auto failure = judge(request, *child, what);
    if (!failure) return failure.error();
    return Attempt<std::string>{std::move(*failure), child->wall_ns};
}

Status check_generator(const GeneratorBuilderOptions &options) {
    if (access(options.generator.c_str(), X_OK) != 0) {
        return environment_error("the kernel generator is missing: no executable " + options.generator +
                                 "; build kiln with ./setup");
    }
    constexpr int64_t least_bytes = int64_t(256) << 20;  // Halide and LLVM take most of it
    if (most_address_space() < least_bytes) {
        return environment_error(fmt::format(
            "the limit of address space of {} MiB (ulimit -v) is too low for the kernel generator, which needs "
            "{} MiB at least, and some kernels need up to {}",
            most_address_space() >> 20, least_bytes >> 20, options.memory_limit_bytes >> 20));
    }
    return {};
}

ChildRequest generator_request(const GeneratorBuilderOptions &options, const BuildRequest &request,
                               const std::string &output) {
    ChildRequest child;
    child.arguments = {options.generator,
                       "--workload",
                       key(request.workload),
                       "--candidate",
                       to_text(request.candidate),
                       "--target",
                       request.target.halide,
                       "--threads",
                       std::to_string(request.target.threads),
                       "-o",
                       output};
    child.time_limit_ns = options.time_limit_ns;
    child.cpu_limit_ns = options.cpu_limit_ns;
    child.memory_limit_bytes = options.memory_limit_bytes;
    child.avoid_cpu = options.avoid_cpu;
    child.cancelled = request.cancelled;
    return child;
}

}  // namespace kiln
