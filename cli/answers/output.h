// The one way from kiln to its user: everything that a command says passes here, and nothing else writes to stdout or
// stderr (tools/check_layers.py looks).
//
// Lines may hold text from anywhere. They are quoted here (text/quoted_text.h), so that no caller has to remember it: a
// line stays one line and a terminal obeys nothing in it. Where writing fails these functions do nothing more; main() tells
// of an answer that did not arrive.
#pragma once

#include <cstdio>
#include <string_view>

namespace kiln {

// To stderr. A message is a line that begins with "kiln: ". Very long lines are shortened in the middle.
void tell(std::string_view message);
void tell_line(std::string_view line);
void tell_lines(std::string_view lines);  // what another program printed; newlines and tabs stay

// To stdout. A line, then a newline.
void print_line(std::string_view line);

// To stdout. JSON, in which what a terminal would obey is escaped: the same values. It may come in many parts, so it is not
// flushed before the end; a part begins and ends between characters.
void print_document(std::string_view document);

// To stdout. What a program reads that has no escapes, such as CSV: exact in files and pipes. A terminal gets it quoted.
void print_exact(std::string_view text);

// Text whose parts are quoted already, with kiln's own layout or control sequences between them.
void write_text(std::FILE *stream, std::string_view text);

}  // namespace kiln
