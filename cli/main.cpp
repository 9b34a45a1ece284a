// The `kiln` command: parse, then run the chosen command.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/help_text.h"
#include "cli/answers/output.h"
#include "cli/answers/terminal_text.h"
#include "cli/command.h"
#include "database/files/lock_wait.h"
#include "text/shell_word.h"
#include "tuner/process/interrupt.h"
#include "tuner/process/standard_streams.h"

namespace kiln {
namespace {

bool is_command(const CLI::App &app, const std::string &text) {
    return !app.get_subcommands([&](const CLI::App *command) { return command->get_name() == text; }).empty();
}

// Where the user reads on, for the command that was being parsed when parsing failed.
std::string help_hint(const CLI::App &app, int argc, char **argv) {
    if (argc > 1 && is_command(app, argv[1])) return fmt::format("see `kiln {} --help`", argv[1]);
    return "see `kiln --help`";
}

// CLI11's message, where it names the problem. It looks for options that are missing before it looks at those that it does not know, of
// which one may be the missing one with a slip.
std::string parse_problem(const CLI::App &app, const CLI::ParseError &error) {
    const std::string message = error.what();
    const std::vector<std::string> left = app.remaining(true);
    const auto unknown = std::ranges::find_if(left, [](const std::string &text) { return text.starts_with("-"); });
    if (dynamic_cast<const CLI::RequiredError *>(&error) && unknown != left.end())
        return fmt::format("The following argument was not expected: {}", *unknown);
    const size_t value = message.find(" = ");
    constexpr std::string_view not_converted = "Could not convert: ";
    if (!dynamic_cast<const CLI::ConversionError *>(&error) || !message.starts_with(not_converted) ||
        value == std::string::npos)
        return message;
    return fmt::format("{}: `{}` is not a number, or beyond the numbers that it takes",
                       message.substr(not_converted.size(), value - not_converted.size()), message.substr(value + 3));
}

int usage_failure(const CLI::App &app, const CLI::ParseError &error, int argc, char **argv) {
    std::string message = parse_problem(app, error);
    for (char &c : message) {
        if (c == '\n') c = ' ';
    }
    if (argc > 1 && !is_command(app, argv[1])) {
        const bool is_option = argv[1][0] == '-' && argv[1][1] != '\0';
        message = is_option ? fmt::format("`{}` is not an option here; a command comes first", argv[1])
                            : fmt::format("`{}` is not a command", argv[1]);
    }
    return fail({ErrorCode::usage, fmt::format("{}; {}", message, help_hint(app, argc, argv))});
}

void say_what_is_waited_for() {
    const auto tell_wait = [](const std::string &path) {
        tell(fmt::format("{}: another process uses it; kiln waits up to 10 minutes (Ctrl-C ends that within 5 seconds)",
                         path));
    };
    set_lock_wait({tell_wait, interrupted});
}

int run(int argc, char **argv) {
    say_what_is_waited_for();
    CLI::App app{
        "kiln finds the fastest convolution kernels for a machine, and builds them, or a whole ONNX network, into a "
        "library.",
        "kiln"};
    app.set_version_flag("--version", "kiln " KILN_VERSION, "Print the version");
    app.require_subcommand(1);
    app.footer(
        "`kiln COMMAND --help` tells about a command.\n"
        "Exit status: 0 done; 1 something asked for failed; 2 wrong usage or input; 3 the environment failed; "
        "130 interrupted.");
    Action action;
    add_tune_command(app, action);
    add_build_command(app, action);
    add_bench_command(app, action);
    add_run_command(app, action);
    add_query_command(app, action);
    add_explain_command(app, action);
    add_check_command(app, action);
    add_db_command(app, action);
    add_repro_command(app, action);
    add_import_command(app, action);
    add_targets_command(app, action);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success &request) {  // --help, --version
        std::ostringstream text;
        app.exit(request, text, text);
        write_text(stdout, wrapped_help(text.str(), answer_width(STDOUT_FILENO)));
        return exit_done;
    } catch (const CLI::ParseError &error) {
        return usage_failure(app, error, argc, argv);
    }
    return action();
}

// Everything after parsing names its files itself; memory can end anywhere.
Error out_of_memory(int argc, char **argv) {
    std::vector<std::string> words;
    for (int i = 1; i < argc; i++) words.push_back(shell_word(argv[i]));
    rlimit limit = {};
    const bool is_limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return environment_error(fmt::format(
        "there is not enough memory for `kiln {}`{}", fmt::join(words, " "),
        is_limited ? fmt::format("; this process may use {} MiB of address space (ulimit -v)", limit.rlim_cur >> 20)
                   : ""));
}

int run_and_catch(int argc, char **argv) {
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc &) {
        return fail(out_of_memory(argc, argv));
    } catch (const std::exception &error) {  // only what nobody could foresee, such as no thread to be had
        return fail(environment_error(error.what()));
    }
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) {
    kiln::take_over_standard_streams();
    const int status = kiln::run_and_catch(argc, argv);
    // An answer that did not arrive is no answer: a full disk behind `kiln query ... > file`.
    const kiln::Status arrived = kiln::finish_answer();
    if (arrived) return status;
    if (!kiln::answer_was_cut_off()) kiln::fail(arrived.error());
    return status == kiln::exit_interrupted ? status : kiln::exit_environment;
}
