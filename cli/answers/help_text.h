// Help within the terminal's width: the parser's library writes each description as one line, however long. Pure.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// Descriptions go on in their own column. Lines of examples, which somebody copies, stay as they are.
std::string wrapped_help(std::string_view text, int width);

}  // namespace kiln
