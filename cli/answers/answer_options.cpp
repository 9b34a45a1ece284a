#include "cli/answers/answer_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace kiln {

void add_format_option(CLI::App &command, TableFormat &format, std::vector<TableFormat> allowed) {
    constexpr std::pair<std::string_view, TableFormat> names[] = {
        {"table", TableFormat::table}, {"json", TableFormat::json}, {"csv", TableFormat::csv}};
    std::map<std::string, TableFormat> choices;
    std::vector<std::string> words;
    for (const auto &[name, value] : names) {
        if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) continue;
        choices.emplace(name, value);
        words.emplace_back(name);
    }
    const auto check = [words](const std::string &text) -> std::string {
        const bool known = std::find(words.begin(), words.end(), text) != words.end();
        return known ? "" : fmt::format("`{}` is unknown; needs one of {}", text, fmt::join(words, ", "));
    };
    const auto assign = [choices, &format](const std::string &text) { format = choices.at(text); };
    command.add_option_function<std::string>("--format", assign, "How to print the answer")
        ->check(CLI::Validator(check, ""))
        ->type_name(fmt::format("{}", fmt::join(words, "|")));
}

void add_options(CLI::App &command, AnswerOptions &options, std::vector<TableFormat> allowed) {
    const bool has_csv = std::find(allowed.begin(), allowed.end(), TableFormat::csv) != allowed.end();
    add_format_option(command, options.format, std::move(allowed));
    add_table_options(command, options, has_csv);
}

void add_table_options(CLI::App &command, AnswerOptions &options, bool has_csv) {
    if (has_csv) {
        command.add_flag("--guard-formulas", options.guard_formulas,
                         "In CSV, a ' before texts that a spreadsheet would compute");
    }
    command.add_flag("--wide", options.wide, "All columns and whole texts, wider than the terminal if need be");
    command
        .add_option(
            "--columns", options.columns,
            "Only these columns, in this order, by their names in JSON and CSV (`median_us`, where a table has `us`)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("A,B,...");
    command
        .add_option("--sort", options.sort,
                    "Order rows by this column, by its name in JSON and CSV; -COLUMN: the largest first")
        ->type_name("COLUMN");
    command.add_option("--top", options.top, "Only the first N rows")
        ->check(CLI::Range(int64_t(1), int64_t(1) << 62))
        ->type_name("N");
}

}  // namespace kiln
