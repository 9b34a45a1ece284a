// The `kiln` command: parse, then run the chosen command.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <system_error>

#include "cli/command.h"

namespace kiln {
namespace {

bool is_command(const CLI::App &app, const std::string &text) {
    return !app.get_subcommands([&](const CLI::App *command) { return command->get_name() == text; }).empty();
}

// Where to read on, for the command that was on its way when parsing failed.
std::string help_hint(const CLI::App &app, int argc, char **argv) {
    if (argc > 1 && is_command(app, argv[1])) return fmt::format("see `kiln {} --help`", argv[1]);
    return "see `kiln --help`";
}

int usage_failure(const CLI::App &app, const CLI::ParseError &error, int argc, char **argv) {
    std::string message = error.what();
    for (char &c : message) {
        if (c == '\n') c = ' ';
    }
    if (argc > 1 && !is_command(app, argv[1])) message = fmt::format("`{}` is not a command", argv[1]);
    return fail({ErrorCode::usage, fmt::format("{}; {}", message, help_hint(app, argc, argv))});
}

int run(int argc, char **argv) {
    CLI::App app{"kiln tunes convolution kernels for one target and bakes the winners into a library.", "kiln"};
    app.set_version_flag("--version", "kiln " KILN_VERSION, "Print the version");
    app.require_subcommand(1);
    app.footer(
        "`kiln COMMAND --help` tells about a command.\n"
        "Exit status: 0 done; 1 something asked for failed; 2 wrong usage or input; 3 the environment failed; "
        "130 interrupted.");
    Action action;
    add_tune_command(app, action);
    add_query_command(app, action);
    add_db_command(app, action);
    add_repro_command(app, action);
    add_targets_command(app, action);
    add_build_command(app, action);
    add_check_command(app, action);
    add_bench_command(app, action);
    add_explain_command(app, action);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success &request) {  // --help, --version
        return app.exit(request);
    } catch (const CLI::ParseError &error) {
        return usage_failure(app, error, argc, argv);
    }
    const int status = action();
    // An answer that did not arrive is no answer: a full disk behind `kiln query ... > file`.
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
        return fail(environment_error("standard output cannot be written"));
    }
    return status;
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) {
    try {
        return kiln::run(argc, argv);
    } catch (const std::system_error &error) {  // fmt's way to say that a stream is full or closed
        return kiln::fail(kiln::environment_error(fmt::format("output failed: {}", error.what())));
    } catch (const std::exception &error) {  // only what nobody could foresee, such as no memory
        return kiln::fail(kiln::environment_error(error.what()));
    }
}
