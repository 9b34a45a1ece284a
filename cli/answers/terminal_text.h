// Texts as a terminal shows them: how many columns one takes, and how it is cut to fewer. The texts are quoted already
// (text/quoted_text.h), so that what is measured here is what is printed.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// Columns of a quoted line. An East Asian character takes two, a combining one none.
int display_width(std::string_view text);

// At most `width` columns of a quoted line: "conv2d/input:1x56…padding:1,1". The beginning keeps the larger half. Bytes are
// limited, too, since there may be any number of characters that take no column.
std::string shortened(std::string_view text, int width);

// Columns for an answer that goes to `descriptor`: COLUMNS of the environment where it is a number, else the terminal's, else 100.
int answer_width(int descriptor);

}  // namespace kiln
