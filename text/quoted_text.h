// Text from outside, as it may be shown to a person.
//
// Names, keys and messages come from files, compilers, kernels, other programs and the environment. A terminal obeys some
// characters, does not show others, and lets a few change how their neighbours look. Those are written out as `\n`,
// `\x1b`, `\u202e` or `\U000e0041`, and so is every byte that is not UTF-8. Everything else stays as it is, the backslash too.
// Therefore quoting a second time changes nothing, and one call at the place where text is printed is enough.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// Whether text with this character may be shown. It may not be a control, a line or paragraph separator, a format or
// ignorable character (directions, widths of zero, tags), nor one that Unicode gives no meaning.
bool is_plain(char32_t code);

// One line: newlines and tabs are written out, too.
std::string quoted_line(std::string_view text);

// Lines of a program's output: newlines and tabs stay.
std::string quoted_lines(std::string_view text);

// The same JSON document, in which characters that are not plain are escapes (`\u009b`). Its strings read back equal.
// Precondition: valid JSON.
std::string quoted_json(std::string_view document);

}  // namespace kiln
