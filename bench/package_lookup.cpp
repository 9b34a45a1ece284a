// What a package costs a program beside its kernels: kiln_find among many kernels, and kiln_find + kiln_run against a
// direct call of a tiny kernel.
//
//   package-lookup COUNT      of kernels; prints one JSON object; times in ns
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "bench/package_call.h"
#include "catalog/catalog.h"
#include "package/package.h"
#include "records/measurement.h"
#include "tuner/job/workshop.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/interrupt.h"
#include "tuner/process/measuring_lock.h"
#include "tuner/runner/loaded_package.h"
#include "workload/workload.h"

namespace kiln {
namespace {

constexpr int rounds = 101;

double now_ns() {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Each round looks every kernel up once, in another order; answers a round's mean.
Samples lookups(const kiln_package *package, bool by_key) {
    std::vector<const kiln_kernel_info *> infos;
    for (size_t i = 0; i < kiln_kernel_count(package); i++) infos.push_back(kiln_info(kiln_kernel_at(package, i)));
    std::mt19937 random(1);
    Samples times;
    for (int round = 0; round < rounds; round++) {
        std::shuffle(infos.begin(), infos.end(), random);
        const double begin = now_ns();
        for (const kiln_kernel_info *info : infos) {
            const kiln_kernel *kernel = nullptr;
            const kiln_status status =
                by_key ? kiln_find_key(package, info->key, &kernel) : kiln_find(package, info->workload, &kernel);
            if (status.code != KILN_OK) return {};
        }
        times.push_back((now_ns() - begin) / double(infos.size()));
    }
    return times;
}

// A convolution so small that the call itself is what takes time.
Workload tiny() { return convolution({1, 4, 4, 16}, {1, 1, 16, 16}); }

// As many different layers as networks have, of the shapes they have.
std::vector<Workload> many_workloads(size_t count) {
    std::vector<Workload> all{tiny()};
    for (int64_t extent = 7; all.size() < count; extent++) {
        for (const int64_t window : {1, 3, 5}) {
            for (const int64_t channels : {16, 32, 64, 128, 256}) {
                if (all.size() < count)
                    all.push_back(convolution({1, extent, extent, channels}, {window, window, channels, 2 * channels}));
            }
        }
    }
    return all;
}

Result<Artifact> build(const Workload &workload, const Target &target, const Machine &machine, Builder &builder) {
    const Result<Candidate> candidate =
        default_candidate(workload, target, core_of(machine, target), default_error_budget);
    if (!candidate) return candidate.error();
    const Result<BuildResult> built = builder.build({workload, target, *candidate});
    if (!built) return built.error();
    if (!built->ok()) return bad_input(built->failure().message);
    return built->value();
}

// All rows have the code of the tiny kernel: only its own row is ever called.
Result<LoadedPackage> make_package(const Artifact &artifact, const Target &target, const std::string &folder,
                                   size_t count) {
    Package package{"many", "bench", "", {}, ""};
    for (const Workload &workload : many_workloads(count)) {
        PackagedKernel kernel;
        kernel.workload = {"bench", "", 1, workload};
        kernel.target = target;
        kernel.candidate = "direct@1/cpu_tile@2/pixels:4";
        kernel.artifact = artifact;
        kernel.workspace_bytes = kernel.workspace_bytes_per_thread = 4096;
        package.kernels.push_back(std::move(kernel));
    }
    const std::filesystem::path root = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
    const PackageParts parts{root / "lib" / "libkiln_kernel_runtime.a", root / "include" / "kiln", folder};
    if (Status s = write_package(package, parts, folder + "/many"); !s) return s.error();
    return LoadedPackage::load(folder + "/many/lib/libmany.so");
}

// Rounds of both in turn: ns of one call through kiln_find and kiln_run, through kiln_run, and of one direct call.
struct Calls {
    Samples found, run, direct;
};
Result<Calls> calls(const kiln_package *package, const kiln_kernel *kernel, const LoadedKernel &loaded) {
    constexpr int in_a_row = 1000;
    Result<std::unique_ptr<PackageCall>> call = PackageCall::create(kernel, 1, 1);
    if (!call) return call.error();
    Result<std::unique_ptr<CallContext>> context = CallContext::create(1, (*call)->workspace());
    if (!context) return context.error();
    const kiln_descriptor *workload = kiln_info(kernel)->workload;
    const auto time = [&](auto body) {
        const double begin = now_ns();
        for (int i = 0; i < in_a_row; i++) body();
        return (now_ns() - begin) / in_a_row;
    };
    Calls times;
    for (int round = 0; round < rounds; round++) {
        times.found.push_back(time([&] {
            const kiln_kernel *found = nullptr;
            if (kiln_find(package, workload, &found).code == KILN_OK) (*call)->through_package();
        }));
        times.run.push_back(time([&] { (*call)->through_package(); }));
        times.direct.push_back(time([&] { (*call)->directly(loaded, (*context)->context()); }));
    }
    return times;
}

int run(const std::vector<std::string> &arguments) {
    const auto fail = [](const Error &error) {
        fmt::print(stderr, "package-lookup: {}\n", error.message);
        return 2;
    };
    const size_t count = arguments.size() == 1 ? size_t(std::atoi(arguments[0].c_str())) : 0;
    if (count == 0) return fail(bad_input("usage: package-lookup COUNT"));
    install_interrupt_handler();
    const Machine machine = read_machine();
    const Result<Target> target = parse_target("host", 1, machine.halide_target);
    if (!target) return fail(target.error());
    Result<Workshop> workshop = make_workshop(std::filesystem::read_symlink("/proc/self/exe").parent_path(), {});
    if (!workshop) return fail(workshop.error());
    const Result<Artifact> artifact = build(tiny(), *target, machine, *workshop->builder);
    if (!artifact) return fail(artifact.error());
    const Result<LoadedPackage> package = make_package(*artifact, *target, workshop->folder.path(), count);
    if (!package) return fail(package.error());
    const Result<LoadedKernel> loaded = LoadedKernel::load(artifact->shared_object_path);
    if (!loaded) return fail(loaded.error());
    const kiln_kernel *kernel = nullptr;
    if (kiln_find_key(**package, key(tiny()).c_str(), &kernel).code != KILN_OK) return fail(bad_input("not found"));
    const Result<MeasuringLock> lock = MeasuringLock::acquire(machine_lock_path());
    if (!lock) return fail(lock.error());
    const Result<Calls> times = calls(**package, kernel, *loaded);
    if (!times) return fail(times.error());
    const auto median = [](const Samples &samples) { return summarize(samples).median; };
    nlohmann::ordered_json answer{{"kernels", kiln_kernel_count(**package)}};
    for (const bool by_key : {false, true}) {
        const Samples samples = lookups(**package, by_key);
        if (samples.empty()) return fail(bad_input("a kernel was not found"));
        answer[by_key ? "find_key_ns" : "find_ns"] = median(samples);
    }
    answer["find_and_run_ns"] = median(times->found);
    answer["run_ns"] = median(times->run);
    answer["direct_ns"] = median(times->direct);
    fmt::print("{}\n", answer.dump(2));
    return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) { return kiln::run({argv + 1, argv + argc}); }
