// What a message quotes of a text that may be of any length.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// The text, or the beginning and the end of one that is longer than 200 bytes, and how many bytes are left out:
// "conv2d/input:1x1[... 10485000 bytes ...]64". Characters stay whole.
std::string excerpt(std::string_view text);

}  // namespace kiln
