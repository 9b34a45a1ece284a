// How deep a JSON text is nested. Parsers take any depth, but values are copied, printed and walked by recursion. So a
// text from outside is measured first; otherwise a deep one would overflow the stack.
#pragma once

#include <string_view>

namespace kiln {

// The most brackets and braces that are open at once, outside of strings. Where the text is not JSON, the answer is at
// least the depth at which a parser gives up.
int json_depth(std::string_view text);

}  // namespace kiln
