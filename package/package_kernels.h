// Collects the kernels of a package: for each workload and target the best recorded candidate, else the default one,
// built by the builder that made the measured kernel.
//
// Nothing wrong ships, whoever wrote the database: a row chooses a candidate and nothing else. The sizes of memory come
// from the builder and the runner, and every object that ships goes through the runner's whole check on this machine. A
// row cannot prove that this machine wrote it, and the check takes less time than building the kernel again does. A
// recorded candidate that fails gives way to the next best one, and in the end to the default one. A workload that no
// kernel computes is reported, and the others go on; so is one whose result is empty, which needs none.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "package/package.h"
#include "tuner/build/expected_builds.h"
#include "tuner/job/candidate_choice.h"
#include "tuner/measure/runner.h"
#include "workload/machine.h"

namespace kiln {

struct CollectEnvironment {
    Builder &builder;
    Runner &runner;
    const TrialStore *store = nullptr;  // none: everything is untuned
    const Machine &machine;
    AlgorithmFilter algorithms;
    double error_budget = default_error_budget;  // no kernel with a larger error, recorded or found here, is used
    CacheOrder caches = caches_of_layers;
    std::function<bool()> interrupted = {};
    std::map<std::string, CandidateChoice> wanted = {};  // by key: tried before the best recorded ones
};

enum class KernelSource {
    tuned,    // the measured object, to the byte
    stale,    // the best candidate, but its object differs from the measured one
    untuned,  // the default candidate
    missing,  // no kernel
    empty,    // none is needed: there is nothing to compute
};

// The outcome for one workload on one target.
struct KernelReport {
    NamedWorkload workload;
    Target target;
    KernelSource source = KernelSource::untuned;
    std::string message;  // why missing or empty, or why better recorded candidates were not used; else empty
};
using CollectListener = std::function<void(const KernelReport &)>;

struct CollectedKernels {
    std::vector<PackagedKernel> kernels;
    std::vector<KernelReport> reports;  // by workload, then target
};

// Starts to build what collect_kernels() asks for first. The environment's builder is `builds` there.
void expect_kernels(const std::vector<NamedWorkload> &workloads, const std::vector<Target> &targets,
                    const CollectEnvironment &environment, ExpectedBuilds &builds);

// What chooses a kernel for the target.
ChoiceContext context_of(const Target &target, const CollectEnvironment &environment);

// Equal workloads are collected once. Precondition: this machine runs the targets. Errors are the job's (environment,
// interrupted).
Result<CollectedKernels> collect_kernels(const std::vector<NamedWorkload> &workloads,
                                         const std::vector<Target> &targets, const CollectEnvironment &environment,
                                         const CollectListener &listener);

}  // namespace kiln
