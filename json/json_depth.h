// How deep a JSON text is nested. Parsers take any depth, but what copies, prints or walks a value does so by
// recursion: a text from outside is asked first, or it ends the process where the stack does.
#pragma once

#include <string_view>

namespace kiln {

// The most brackets and braces that are open at once, outside of strings. Of a text that is not JSON at least what a
// parser would open before it gives up.
int json_depth(std::string_view text);

}  // namespace kiln
