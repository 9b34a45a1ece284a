#include "cli/answers/output.h"

#include <unistd.h>

#include <string>

#include "cli/answers/terminal_text.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

// Enough for any list of choices, too little to hide what came before.
constexpr int longest_line = 4000;
constexpr size_t longest_output = 64 << 10;

void put(std::FILE *stream, std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); }

}  // namespace

void write_text(std::FILE *stream, std::string_view text) {
    put(stream, text);
    std::fflush(stream);
}

void tell_line(std::string_view line) { write_text(stderr, shortened(quoted_line(line), longest_line) + "\n"); }

void tell(std::string_view message) { tell_line("kiln: " + std::string(message)); }

void tell_lines(std::string_view lines) {
    const bool cut = lines.size() > longest_output;
    write_text(stderr, quoted_lines(lines.substr(0, longest_output)) + (cut ? "\n[...]\n" : "\n"));
}

void print_line(std::string_view line) { write_text(stdout, quoted_line(line) + "\n"); }

void print_document(std::string_view document) { put(stdout, quoted_json(document)); }

void print_exact(std::string_view text) {
    put(stdout, isatty(STDOUT_FILENO) == 1 ? quoted_lines(text) : std::string(text));
}

}  // namespace kiln
