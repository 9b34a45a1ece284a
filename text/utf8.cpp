#include "text/utf8.h"

#include <cassert>

namespace kiln {
namespace {

struct Lead {
    int length = 0;  // of the whole character; 0: no byte that begins one
    char32_t bits = 0;
    char32_t least = 0;  // smaller codes have a shorter form
};

Lead lead_of(unsigned char byte) {
    if (byte < 0x80) return {1, byte, 0};
    if (byte >= 0xC2 && byte < 0xE0) return {2, byte & 0x1FU, 0x80};
    if (byte >= 0xE0 && byte < 0xF0) return {3, byte & 0x0FU, 0x800};
    if (byte >= 0xF0 && byte < 0xF5) return {4, byte & 0x07U, 0x10000};
    return {};
}

}  // namespace

Utf8Character first_character(std::string_view text) {
    assert(!text.empty());
    const Utf8Character broken{text.substr(0, 1), 0, true};
    const Lead lead = lead_of(static_cast<unsigned char>(text.front()));
    const auto length = static_cast<size_t>(lead.length);
    if (length == 0 || length > text.size()) return broken;
    char32_t code = lead.bits;
    for (size_t i = 1; i < length; i++) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte & 0xC0) != 0x80) return broken;
        code = code << 6 | (byte & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    if (code < lead.least || surrogate || code > 0x10FFFF) return broken;
    return {text.substr(0, length), code, false};
}

}  // namespace kiln
