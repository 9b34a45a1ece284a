// Times the fallback of a package (`kiln build --fallback`) on the convolutions of workload lists.
//
//   fallback-times LIBRARY.so THREADS LIST.json...      prints one JSON object: layer -> us and GFLOP/s
#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "bench/package_call.h"
#include "package/kernel_descriptor.h"
#include "records/measurement.h"
#include "tuner/process/interrupt.h"
#include "tuner/process/measuring_lock.h"
#include "tuner/runner/loaded_package.h"
#include "tuner/runner/timing.h"
#include "workload/lists/workload_list.h"

namespace kiln {
namespace {

constexpr int samples = 21;

// Median of one call in ns.
Result<double> time(const kiln_package *package, const Workload &workload, int threads) {
    const Result<kiln_descriptor> descriptor = descriptor_of(workload);
    if (!descriptor) return descriptor.error();
    const kiln_kernel *kernel = nullptr;
    kiln_fallback memory;
    const kiln_status status = package->fallback
                                   ? package->fallback(package, &*descriptor, &memory, sizeof memory, &kernel)
                                   : kiln_refuse_null("the package has no fallback");
    if (status.code != KILN_OK) return bad_input(status.detail);
    Result<std::unique_ptr<PackageCall>> call = PackageCall::create(kernel, threads, 1);
    if (!call) return call.error();
    const TimedCall timed{[&] { (*call)->through_package(); }, {}};
    UndisturbedSamples undisturbed(timed, calls_per_sample(timed, warm_up(timed), {}), 2e9);
    Samples times;
    for (int i = 0; i < samples; i++) times.push_back(undisturbed.next_ns());
    return summarize(times).median;
}

int run(const std::vector<std::string> &arguments) {
    const auto fail = [](const std::string &message) {
        fmt::print(stderr, "fallback-times: {}\n", message);
        return 2;
    };
    const int threads = arguments.size() < 3 ? 0 : std::atoi(arguments[1].c_str());
    if (threads < 1) return fail("usage: fallback-times LIBRARY.so THREADS LIST.json...");
    install_interrupt_handler();
    const Result<LoadedPackage> package = LoadedPackage::load(arguments[0]);
    if (!package) return fail(package.error().message);
    const Result<MeasuringLock> lock = MeasuringLock::acquire(machine_lock_path());
    if (!lock) return fail(lock.error().message);
    nlohmann::ordered_json answer = nlohmann::ordered_json::object();
    for (size_t i = 2; i < arguments.size(); i++) {
        const Result<std::vector<NamedWorkload>> list = read_workload_list(arguments[i]);
        if (!list) return fail(list.error().message);
        for (const NamedWorkload &w : *list) {
            const Result<double> ns = time(**package, w.workload, threads);
            if (!ns) return fail(w.name + ": " + ns.error().message);
            answer[w.name] = {{"us", *ns / 1e3}, {"gflops", double(flop_count(w.workload)) / *ns}};
        }
    }
    fmt::print("{}\n", answer.dump(2));
    return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) { return kiln::run({argv + 1, argv + argc}); }
