// Texts as a terminal shows them: how many columns one takes, and what may be sent to a terminal at all. Texts come from
// compilers, kernels and databases of others, so nothing in them may move the cursor or change colors.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// Columns of a text in UTF-8. An East Asian character takes two, a combining one none, a broken byte one.
int display_width(std::string_view text);

// The same text on one line, with what a terminal would obey or could not show written out: `\n`, `\t`, `\x1b`, `\xff`,
// `\u202e`.
std::string visible(std::string_view text);

// At most `width` columns of a text that is visible(): "conv2d/input:1x56…padding:1,1". The beginning keeps the larger
// half.
std::string shortened(std::string_view text, int width);

// Columns for an answer that goes to `descriptor`: COLUMNS of the environment where it is a number, else the terminal's, else 100.
int answer_width(int descriptor);

}  // namespace kiln
