// kiln-simulate [--core FILE] [--counts FILE] PROGRAM
//
// Runs a program for a soft core on a simulated one, as an emulator would: its output goes to stdout, and its status is the
// answer. --counts writes what was counted, as JSON.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "json/file_text.h"
#include "simulate/core_file.h"
#include "simulate/counts_json.h"
#include "simulate/simulator.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

constexpr int exit_refused = 125;  // beyond what programs answer as a rule
constexpr int64_t most_program_bytes = int64_t{64} << 20;

struct Arguments {
    std::string core, counts, program;
};

int refuse(const std::string &message) {
    fmt::print(stderr, "kiln-simulate: {}\n", quoted_line(message));
    return exit_refused;
}

// False: they are not as the usage says.
bool parse(const std::vector<std::string> &words, Arguments *arguments) {
    for (size_t i = 0; i < words.size(); i++) {
        std::string *value = words[i] == "--core"     ? &arguments->core
                             : words[i] == "--counts" ? &arguments->counts
                                                      : nullptr;
        if (value && i + 1 < words.size()) {
            *value = words[++i];
        } else if (value || words[i].starts_with('-') || !arguments->program.empty()) {
            return false;
        } else {
            arguments->program = words[i];
        }
    }
    return !arguments->program.empty();
}

Status write_counts(const ProgramRun &run, const CoreDescription &core, const std::string &path) {
    nlohmann::ordered_json json = {
        {"core", key(core)}, {"whole", json_of(run.counts)}, {"marked", nlohmann::json::array()}};
    for (const Counts &counts : run.marked) json["marked"].push_back(json_of(counts));
    if ((std::ofstream(path) << json.dump() << "\n").flush()) return {};
    return environment_error(path + ": cannot be written");
}

int simulate(const Arguments &arguments) {
    CoreDescription core;
    if (!arguments.core.empty()) {
        const Result<CoreDescription> described = read_core_file(arguments.core);
        if (!described) return refuse(described.error().message);
        core = *described;
    }
    const Result<std::string> file = read_file_text(arguments.program, most_program_bytes);
    if (!file) return refuse(file.error().message);
    const auto elf = parse_elf32(std::as_bytes(std::span(*file)), arguments.program);
    if (!elf) return refuse(elf.error().message);
    auto simulator = Simulator::load(*elf, arguments.program, core, {});
    if (!simulator) return refuse(simulator.error().message);
    const ProgramRun run = simulator->run(elf->entry);
    std::fwrite(run.output.data(), 1, run.output.size(), stdout);
    if (std::fflush(stdout) != 0) return refuse("stdout: cannot be written");
    if (!run.problem.empty()) return refuse(arguments.program + ": " + run.problem);
    if (!arguments.counts.empty()) {
        if (Status s = write_counts(run, core, arguments.counts); !s) return refuse(s.error().message);
    }
    return run.status & 0xff;
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) {
    kiln::Arguments arguments;
    if (!kiln::parse({argv + 1, argv + argc}, &arguments)) {
        fmt::print(stderr, "usage: kiln-simulate [--core FILE] [--counts FILE] PROGRAM\n");
        return kiln::exit_refused;
    }
    return kiln::simulate(arguments);
}
