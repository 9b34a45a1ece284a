#include "tuner/job/workshop.h"

#include <sched.h>
#include <unistd.h>

#include <utility>

#include "tuner/build/generator_builder.h"
#include "tuner/build/soft_core_builder.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/measuring_lock.h"

namespace kiln {
namespace {

Result<std::string> executable(const std::string &folder, const std::string &name) {
    const std::string path = folder + "/" + name;
    if (access(path.c_str(), X_OK) != 0) {
        return environment_error(path + " is missing or not executable; build it with ./setup");
    }
    return path;
}

// The last CPU that this process may use: the first ones are where systems tend to handle interrupts.
std::optional<int> measuring_cpu() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return std::nullopt;
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--) {
        if (CPU_ISSET(cpu, &allowed)) return cpu;
    }
    return std::nullopt;
}

Result<std::unique_ptr<Builder>> make_builder(const GeneratorBuilderOptions &options, bool for_soft_core) {
    const auto as_builder = [](auto made) -> Result<std::unique_ptr<Builder>> {
        if (!made) return made.error();
        return std::unique_ptr<Builder>(std::move(*made));
    };
    return for_soft_core ? as_builder(SoftCoreBuilder::create(options)) : as_builder(GeneratorBuilder::create(options));
}

}  // namespace

Machine machine_of(const CoreDescription &core) {
    Machine machine;
    machine.cpu_model = key(core);
    machine.cpu_id = "rv32im-" + core.name;
    machine.l1_bytes = core.data.bytes, machine.l2_bytes = 0;
    machine.halide_target = "riscv-32-noos";
    return machine;
}

Result<Workshop> make_workshop(const std::string &executables, const OnWait &on_wait, const SimulatedCore &core,
                               const std::string &core_judge) {
    Result<std::string> generator = executable(executables, "kiln-generator");
    if (!generator) return generator.error();
    Result<std::string> runner = executable(executables, "kiln-runner");
    if (!runner) return runner.error();
    Result<TemporaryFolder> folder = TemporaryFolder::create();
    if (!folder) return folder.error();

    GeneratorBuilderOptions builder_options;
    builder_options.generator = *generator;
    builder_options.work_folder = folder->path();
    // A count is the same whatever else runs, so builds for a soft core may have every CPU.
    const std::optional<int> cpu = core ? std::nullopt : measuring_cpu();
    builder_options.avoid_cpu = cpu;
    Result<std::unique_ptr<Builder>> builder = make_builder(builder_options, core.has_value());
    if (!builder) return builder.error();

    ProcessRunnerOptions runner_options;
    runner_options.executable = *runner;
    runner_options.work_folder = folder->path();
    runner_options.cpu = cpu;
    runner_options.machine = key(core ? machine_of(*core) : read_machine());
    runner_options.core = core;
    runner_options.core_judge = core_judge;
    if (!core) runner_options.lock = machine_lock_path();
    runner_options.on_wait = on_wait;
    ProcessRunnerOptions network_options = runner_options;
    network_options.time_limit_ns = 600'000'000'000;  // of many kernels
    return Workshop{std::move(*folder),
                    std::move(*builder),
                    std::make_unique<ProcessRunner>(runner_options),
                    std::make_unique<ProcessNetworkRunner>(network_options),
                    std::make_unique<ProcessWeightsPacker>(network_options),
                    runner_options.cpu};
}

}  // namespace kiln
