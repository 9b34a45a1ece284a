// Globs of the command line, which choose layers, algorithms and cases by name. Not fnmatch(): there brackets and
// backslashes mean something, and a pattern with many stars may take forever.
#pragma once

#include <string_view>

namespace kiln {

// Whether all of the text matches: `*` any characters, `/` too; `?` one; the rest literally. Takes a step for
// each character of the text and each 64 of the pattern.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace kiln
