// What builds and runs kernels for real: a builder and a runner over one temporary folder, on one core for measuring.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "simulate/core_description.h"
#include "tuner/build/builder.h"
#include "tuner/measure/network_runner.h"
#include "tuner/measure/process_runner.h"
#include "tuner/measure/weights_packer.h"
#include "tuner/process/lock_holder.h"
#include "tuner/process/temporary_folder.h"
#include "workload/machine.h"

namespace kiln {

struct Workshop {
    TemporaryFolder folder;
    std::unique_ptr<Builder> builder;
    std::unique_ptr<ProcessRunner> runner;
    std::unique_ptr<ProcessNetworkRunner> networks;
    std::unique_ptr<ProcessWeightsPacker> packer;
    std::optional<int> cpu;  // where one-thread kernels are measured, and nothing is built
};

using OnWait = std::function<void(const std::optional<LockHolder> &)>;

// What measures in the place of this machine: a core that is simulated.
using SimulatedCore = std::optional<CoreDescription>;

// `executables`: the folder with kiln-generator and kiln-runner. `on_wait`: another kiln process is measuring, for
// seconds (LockWait of measuring_lock.h). `core_judge`: see ProcessRunnerOptions. Errors: something is missing (environment).
Result<Workshop> make_workshop(const std::string &executables, const OnWait &on_wait, const SimulatedCore &core = {},
                               const std::string &core_judge = {});

// The core as who measures, for databases and defaults.
Machine machine_of(const CoreDescription &core);

}  // namespace kiln
