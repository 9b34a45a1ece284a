// UTF-8, read strictly: what RFC 3629 calls well-formed is a character. Everything else is single broken bytes: overlong
// forms, surrogates, codes beyond U+10FFFF, bytes that begin nothing and characters that are cut off.
#pragma once

#include <string_view>

namespace kiln {

struct Utf8Character {
    std::string_view bytes;
    char32_t code = 0;
    bool broken = false;  // one byte that belongs to no character
};

// The first character of a text that is not empty.
Utf8Character first_character(std::string_view text);

}  // namespace kiln
