#include "cli/judge_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/command.h"

namespace kiln {
namespace {

constexpr const char *environment = "KILN_RTL";
constexpr const char *way_out =
    "`bench/rtl/setup` in kiln's sources makes .rtl/vexriscv of VexRiscv's Verilog (docs/soft_cores.md)";

}  // namespace

void add_options(CLI::App &command, JudgeOptions &options, const std::string &what) {
    command
        .add_option("--judge", options.judge,
                    fmt::format("Who has the last word on a soft core: model, or rtl, where {} [model]", what))
        ->check(one_of({"model", "rtl"}))
        ->type_name("model|rtl");
    command
        .add_option(
            "--rtl", options.rtl,
            fmt::format("The program that --judge rtl runs kernels in; bench/rtl/setup makes one [${}]", environment))
        ->type_name("FILE");
}

Result<std::string> core_judge(const JudgeOptions &options, const SimulatedCore &core) {
    if (options.judge == "model") {
        if (options.rtl.empty()) return std::string();
        return usage_error("--rtl: is for --judge rtl");
    }
    if (!core) return usage_error("--judge rtl: is for soft cores, such as --target rv32im");
    const char *variable = std::getenv(environment);
    const std::string path = !options.rtl.empty() ? options.rtl : variable ? variable : "";
    if (path.empty()) {
        return environment_error(fmt::format(
            "--judge rtl: needs the core's program: --rtl FILE, or its path in ${}; {}", environment, way_out));
    }
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::canonical(path, error);
    if (error || !std::filesystem::is_regular_file(whole, error) || access(whole.c_str(), X_OK) != 0) {
        return environment_error(fmt::format("--judge rtl: {} is no program that can be started; {}",
                                             options.rtl.empty() ? fmt::format("{} (${})", path, environment) : path,
                                             way_out));
    }
    return whole.string();
}

}  // namespace kiln
