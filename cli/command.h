// What the commands of `kiln` share: choosing workloads and targets, finding kiln's other executables, exit status.
// Each command is one file, command_<name>.cpp, with one function that adds it to the parser.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/answer.h"
#include "database/trial_store.h"
#include "package/package.h"
#include "tuner/job/candidate_choice.h"
#include "tuner/job/workshop.h"
#include "workload/lists/workload_list.h"
#include "workload/machine.h"
#include "workload/result.h"
#include "workload/target.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace kiln {

struct NetworkOptions;

// Exit status of the command line, fixed by docs/command_line.md.
enum ExitStatus { exit_done = 0, exit_failed = 1, exit_usage = 2, exit_environment = 3, exit_interrupted = 130 };
int exit_status(const Error &error);
Result<TrialStore> open_to_read(const std::string &db);                  // its long queries end at Ctrl-C
Result<std::optional<TrialStore>> open_if_named(const std::string &db);  // the same; none without a name
void tell_notes(const TrialStore &store);                                // on stderr, a message each
int fail(const Error &error);           // one message on stderr, "kiln: ..."; answers its exit status
int fail_in_lines(const Error &error);  // a message of several lines, whose names are quoted already

// What the parser found: the chosen command's work, to be run after parsing. Answers an exit status.
using Action = std::function<int()>;

void add_tune_command(CLI::App &app, Action &action);
void add_query_command(CLI::App &app, Action &action);
void add_db_command(CLI::App &app, Action &action);
void add_repro_command(CLI::App &app, Action &action);
void add_targets_command(CLI::App &app, Action &action);
void add_build_command(CLI::App &app, Action &action);
void add_check_command(CLI::App &app, Action &action);
void add_bench_command(CLI::App &app, Action &action);
void add_explain_command(CLI::App &app, Action &action);
void add_import_command(CLI::App &app, Action &action);
void add_run_command(CLI::App &app, Action &action);

// Checks of an option's text. `whole_number`: digits that fit 63 bits, since CLI11 lets larger numbers saturate and
// negative ones wrap.
CLI::Validator whole_number();
CLI::Validator one_of(std::vector<std::string> words);

// --workloads FILE... and --filter GLOB. It is an error when nothing matches.
struct WorkloadOptions {
    std::vector<std::string> files;
    std::string filter = "*";
};
void add_options(CLI::App &command, WorkloadOptions &options);
Result<std::vector<NamedWorkload>> read(const WorkloadOptions &options);

// --target T and --threads N.
struct TargetOptions {
    std::string target = "host";
    int threads = 1;
    std::string core;  // --core FILE: what a soft core's kernels are simulated on; empty: the default core
};
void add_options(CLI::App &command, TargetOptions &options);
Result<Target> read(const TargetOptions &options, const Machine &machine);

// Like read(), and refuses a target that this machine cannot run, naming the missing features, and a soft core.
Result<Target> read_runnable(const TargetOptions &options, const Machine &machine);

// --core FILE, for commands that run kernels.
void add_core_option(CLI::App &command, TargetOptions &options);

// Who runs kernels of the target: this machine, or for a soft core a simulated one.
struct Place {
    Target target;
    Machine machine;
    SimulatedCore core;
};
Result<Place> read_place(const TargetOptions &options);

// Where this executable lies; kiln's other parts are found from there, wherever the build or installation was moved.
Result<std::string> own_folder();

// Over the executables in own_folder(); says on stderr where it has to wait for another process.
Result<Workshop> make_workshop(const SimulatedCore &core = {}, const std::string &core_judge = {});

// The files that go into every package; they lie in the build folder, beside the folder of the executables.
Result<PackageParts> package_parts(const Workshop &workshop);

// --algorithm and --without: globs over names of algorithms.
void add_algorithm_options(CLI::App &command, AlgorithmFilter &filter);

// Globs that match no name, and globs that leave no algorithm, are mistakes: nothing else would tell a typo from a choice. Where
// there is a network (its file is named), --without may name its alterations, too.
Status check_names(const AlgorithmFilter &filter, const NetworkOptions &network);

// One of `names` matches the glob of an option; the message has all of them.
Status check_glob(std::string_view option, const std::string &glob, std::string_view what,
                  const std::vector<std::string> &names);

// --max-error E, the error budget; check_error_budget() says what is wrong with the number given.
void add_max_error_option(CLI::App &command, double &error_budget, const std::string &meaning);
Status check_error_budget(double error_budget);

// A filter that chose nothing: names it, and a few of the names that there are.
Error no_match(const std::string &filter, std::string_view what, const std::vector<std::string> &names);

}  // namespace kiln
