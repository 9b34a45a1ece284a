// Text from outside as one word of a command that a person may copy into a shell.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// As it is where a shell takes it for one plain word, else in quotes: 'a b'. What a terminal would obey is written out, in
// quotes that shells read (`$'a\nb'`), so that a line with such a word stays one line and still names the same file.
std::string shell_word(std::string_view text);

}  // namespace kiln
