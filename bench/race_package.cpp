// Races the kernels of a package, as a program calls them, against the same kernels as kiln-runner loads and calls
// them: is what was measured what ships?
//
//   race-package LIBRARY.so THREADS warm|cold      prints one JSON object: for each layer package / runner
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "bench/package_call.h"
#include "tuner/job/workshop.h"
#include "tuner/process/interrupt.h"
#include "tuner/process/measuring_lock.h"
#include "tuner/race/paired_ratio.h"
#include "tuner/runner/cache.h"
#include "tuner/runner/loaded_package.h"
#include "tuner/runner/timing.h"
#include "workload/machine.h"

namespace kiln {
namespace {

constexpr int heats = 5, rounds = 15;
constexpr SampleLength sample_length{100e3, 100e3};
constexpr double may_lose_ns = 1e9;

struct Options {
    std::string library;
    int threads = 1;
    CacheMode cache = CacheMode::warm;
};

Result<LoadedKernel> rebuild(const kiln_kernel_info &info, Builder &builder) {
    const Result<Workload> workload = parse_workload_key(info.key);
    if (!workload) return workload.error();
    const Result<Candidate> candidate = parse_candidate(info.candidate);
    if (!candidate) return candidate.error();
    const Result<BuildResult> built = builder.build({*workload, {info.target, info.threads}, *candidate});
    if (!built) return built.error();
    if (!built->ok()) return bad_input(fmt::format("{}: {}", info.key, built->failure().message));
    if (built->value().object_hash != info.object_hash) {
        return bad_input(fmt::format("{}: the package has object {}, this toolchain makes {}; build it again", info.key,
                                     info.object_hash, built->value().object_hash));
    }
    return LoadedKernel::load(built->value().shared_object_path);
}

struct Race {
    Heats package, runner;
};

// One heat: fresh memory for all operands, then rounds in random order.
Status run_heat(const kiln_kernel *kernel, const LoadedKernel &loaded, const Options &options, uint64_t seed,
                Race *race) {
    Result<std::unique_ptr<PackageCall>> made = PackageCall::create(kernel, options.threads, seed);
    if (!made) return made.error();
    PackageCall &call = **made;
    Result<std::unique_ptr<CallContext>> context = CallContext::create(options.threads, call.workspace());
    if (!context) return context.error();
    TimedCall timed[2] = {{[&] { call.through_package(); }, {}},
                          {[&] { call.directly(loaded, (*context)->context()); }, {}}};
    std::vector<UndisturbedSamples> samples;
    for (TimedCall &t : timed) {
        if (options.cache == CacheMode::cold) t.before_each = [&] { make_cold(call.weights(), call.activations()); };
        samples.emplace_back(t, calls_per_sample(t, warm_up(t), sample_length), may_lose_ns);
    }
    Samples times[2];
    std::mt19937_64 random(seed);
    for (int round = 0; round < rounds; round++) {
        const int first = int(random() & 1);
        for (const int i : {first, 1 - first}) {
            time_calls(timed[i], 1);
            times[i].push_back(samples[size_t(i)].next_ns());
        }
    }
    race->package.push_back(times[0]), race->runner.push_back(times[1]);
    return {};
}

double median_us(const Heats &of) {
    Samples all;
    for (const Samples &samples : of) all.insert(all.end(), samples.begin(), samples.end());
    return summarize(all).median / 1e3;
}

Result<nlohmann::ordered_json> race_all(const Options &options) {
    const Result<LoadedPackage> package = LoadedPackage::load(options.library);
    if (!package) return package.error();
    Result<Workshop> workshop = make_workshop(std::filesystem::read_symlink("/proc/self/exe").parent_path(), {});
    if (!workshop) return workshop.error();
    nlohmann::ordered_json answer = nlohmann::ordered_json::object();
    for (size_t i = 0; i < kiln_kernel_count(**package); i++) {
        const kiln_kernel_info &info = *kiln_info(kiln_kernel_at(**package, i));
        const kiln_kernel *kernel = nullptr;
        const kiln_status status = kiln_find(**package, info.workload, &kernel);
        if (status.code != KILN_OK) return bad_input(fmt::format("{}: {}", info.key, status.detail));
        if (kernel != kiln_kernel_at(**package, i)) continue;  // for other CPUs
        const Result<LoadedKernel> loaded = rebuild(info, *workshop->builder);
        if (!loaded) return loaded.error();
        const Result<MeasuringLock> lock = MeasuringLock::acquire(machine_lock_path());
        if (!lock) return lock.error();
        Race race;
        for (int heat = 0; heat < heats; heat++) {
            if (Status s = run_heat(kernel, *loaded, options, uint64_t(heat), &race); !s) return s.error();
        }
        const RatioInterval ratio = paired_ratio(race.package, race.runner);
        answer[info.name] = {{"ratio", ratio.ratio},
                             {"ratio_lo", ratio.lo},
                             {"ratio_hi", ratio.hi},
                             {"package_us", median_us(race.package)},
                             {"runner_us", median_us(race.runner)}};
    }
    return answer;
}

int run(const std::vector<std::string> &arguments) {
    const auto fail = [](const std::string &message) {
        fmt::print(stderr, "race-package: {}\n", message);
        return 2;
    };
    if (arguments.size() != 3) return fail("usage: race-package LIBRARY.so THREADS warm|cold");
    Options options{arguments[0], std::atoi(arguments[1].c_str()),
                    arguments[2] == "cold" ? CacheMode::cold : CacheMode::warm};
    const bool is_mode = arguments[2] == "cold" || arguments[2] == "warm";
    if (options.threads < 1 || !is_mode) return fail("needs a number of threads and warm or cold");
    install_interrupt_handler();
    const Result<nlohmann::ordered_json> answer = race_all(options);
    if (!answer) return fail(answer.error().message);
    fmt::print("{}\n", answer->dump(2));
    return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) { return kiln::run({argv + 1, argv + argc}); }
