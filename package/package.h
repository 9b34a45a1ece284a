// Writes ahead-of-time packages: kernels that the builder made, under one library that needs neither kiln nor Halide.
// docs/package.md describes the files.
//
// The same kernels and tools give the same bytes: files hold no times and no paths, and kernels are in the order of
// their keys. All files are written into a folder beside the output, which takes the output's place at the end, so
// nothing half-written stays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "database/trial_store.h"
#include "package/packaged_network.h"
#include "tuner/build/builder.h"
#include "workload/lists/workload_list.h"
#include "workload/result.h"
#include "workload/target.h"

namespace kiln {

// Who found a kernel right before it shipped, and by which bound. This is never taken from a database.
struct Judgement {
    std::string machine;  // key(Machine)
    double error_budget = 0;
};

// What is known of a kernel that a soft core runs.
struct SoftCoreKernel {
    std::string core;        // key(CoreDescription)
    int64_t cycles = 0;      // of a call, as counted before it shipped
    std::string conditions;  // JSON: everything that was counted
    // In the package; write_c_package() fills these in.
    std::string function;
    std::string shared;  // the function of several layers that computes this one, which has no code of its own
    int64_t packed_bytes = 0, text_bytes = 0, rodata_bytes = 0, stack_bytes = 0;
};

// Code that several layers of a package share.
struct SharedSoftCoreCode {
    std::string function, source;
    int64_t layers = 0;
    std::vector<std::string> flags;
    int64_t text_bytes = 0, rodata_bytes = 0;
};

// A kernel and what is known about it.
struct PackagedKernel {
    NamedWorkload workload;
    Target target;
    std::string candidate;  // to_text(Candidate)
    Artifact artifact;
    int64_t workspace_bytes = 0, workspace_bytes_per_thread = 0;  // the judgement found these and the errors
    ErrorMeasures errors;
    Judgement judgement;
    std::optional<Best> best;  // the trial and the measurement that chose it; nothing: the default candidate
    bool stale = false;        // the measurement is of another object, so the package claims nothing of its speed
    std::optional<Race> race;  // `best` won it
    int place = 0;             // among the kernels of its workload, see table_order.h
    std::string why_place;     // a sentence
    std::optional<SoftCoreKernel> soft_core;

    // The measurement of this very kernel, or null.
    const Measurement *measurement() const { return best && !stale ? &best->measurement : nullptr; }
};

struct Package {
    std::string name;                     // a C identifier in lower case; the library's and its one symbol's
    std::string toolchain;                // of the builder
    std::string database;                 // the file's name, without its folder; empty where there was none
    std::vector<PackagedKernel> kernels;  // one for each workload and target; at least one, but for a network of copies
    std::string database_digest;          // TrialStore::digest(); empty where there was none
    bool fallback = false;                // add one for convolutions of any sizes (runtime/fallback/fallback.h)
    std::vector<std::string> files;       // of C sources, beside those that every package has; sorted
    std::vector<SharedSoftCoreCode> shared_code;  // write_c_package() fills it in
    // What its kernels compute: nothing, a network, or also what prepares the inputs of that. Each step has a kernel for each
    // variant.
    std::vector<PackagedNetwork> networks;
    std::optional<SoftCoreNetwork> soft_core_network;  // what kernels in C compute together
};

// The parts that go into every package.
struct PackageParts {
    std::string runtime_library;  // libkiln_kernel_runtime.a
    std::string header_folder;    // has runtime/kiln.h, runtime/kernel_table.h, ...
    std::string work_folder;      // for temporary files
};

// Whether a package of that name could be written there: the folder does not exist, is empty, or holds such a package and
// nothing else. A build asks before an hour of work; write_package() looks again.
Status check_package_folder(const std::string &folder, const std::string &name);

// Whether the tools of the system that write_package() needs are there, asked before the work, too. Errors (environment): one is
// missing.
Status check_package_tools();

Status write_package(const Package &package, const PackageParts &parts, const std::string &folder);

}  // namespace kiln
