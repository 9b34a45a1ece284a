// Texts as a terminal shows them: how many columns one takes, and how it is cut to fewer. The texts are quoted already
// (text/quoted_text.h), so that what is measured here is what is printed.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// Columns of a quoted line. An East Asian character takes two, a combining one none.
int display_width(std::string_view text);

// The bytes that a text of so many columns has at most; more of them would be characters that take no column.
constexpr size_t bytes_of_columns(int width) { return width > 0 ? 16 * static_cast<size_t>(width) : 0; }

// At most `width` columns of a quoted line: "conv2d/input:1x56…padding:1,1". The beginning keeps the larger half. Bytes are
// limited, too.
std::string shortened(std::string_view text, int width);

// Columns for an answer that goes to `descriptor`: COLUMNS of the environment where it is a number, else the terminal's, else
// 100.
int answer_width(int descriptor);

}  // namespace kiln
