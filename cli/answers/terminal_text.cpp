#include "cli/answers/terminal_text.h"

#include <fmt/format.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace kiln {
namespace {

constexpr int without_terminal = 100, narrowest = 20;
constexpr std::string_view ellipsis = "…";

// The C library knows how wide characters are, in a locale with UTF-8; the program's own may be another.
class Utf8Locale {
public:
    Utf8Locale() : before_(uselocale(utf8())) {}
    ~Utf8Locale() { uselocale(before_); }
    Utf8Locale(const Utf8Locale &) = delete;
    Utf8Locale &operator=(const Utf8Locale &) = delete;

private:
    static locale_t utf8() {
        static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
        return locale ? locale : uselocale(nullptr);
    }
    locale_t before_;
};

struct Character {
    std::string_view bytes;
    wchar_t code = 0;
    bool broken = false;  // no character but a byte

    int width() const {
        const int known = broken ? 1 : wcwidth(code);
        return std::max(known, 0);
    }
};

std::vector<Character> characters(std::string_view text) {
    std::vector<Character> result;
    std::mbstate_t state{};
    while (!text.empty()) {
        Character c;
        size_t length = std::mbrtowc(&c.code, text.data(), text.size(), &state);
        if (length > text.size()) {  // an error, or the text ends within a character
            c.broken = true;
            length = 1;
            state = {};
        }
        length = std::max<size_t>(length, 1);  // NUL
        c.bytes = text.substr(0, length);
        text.remove_prefix(length);
        result.push_back(c);
    }
    return result;
}

// Codes that order the direction of what follows, and so could show another text than is there.
bool turns_direction(wchar_t code) {
    return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0x200E || code == 0x200F;
}

bool is_control(wchar_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

std::string written_out(const Character &c) {
    if (c.broken) return fmt::format("\\x{:02x}", static_cast<unsigned char>(c.bytes.front()));
    if (c.code == L'\n') return "\\n";
    if (c.code == L'\t') return "\\t";
    if (c.code < 0x80) return fmt::format("\\x{:02x}", static_cast<unsigned>(c.code));
    return fmt::format("\\u{:04x}", static_cast<unsigned>(c.code));
}

}  // namespace

int display_width(std::string_view text) {
    const Utf8Locale locale;
    int width = 0;
    for (const Character &c : characters(text)) width += c.width();
    return width;
}

std::string visible(std::string_view text) {
    const Utf8Locale locale;
    std::string result;
    for (const Character &c : characters(text)) {
        const bool obeyed = c.broken || is_control(c.code) || turns_direction(c.code);
        result += obeyed ? written_out(c) : std::string(c.bytes);
    }
    return result;
}

std::string shortened(std::string_view text, int width) {
    const Utf8Locale locale;
    const std::vector<Character> all = characters(text);
    int whole = 0;
    for (const Character &c : all) whole += c.width();
    if (whole <= width) return std::string(text);
    if (width < 1) return "";
    const int tail_room = (width - 1) / 2, head_room = width - 1 - tail_room;
    size_t head = 0, tail = all.size();
    for (int used = 0; head < all.size() && used + all[head].width() <= head_room; head++) used += all[head].width();
    for (int used = 0; tail > head && used + all[tail - 1].width() <= tail_room; tail--) used += all[tail - 1].width();
    std::string result;
    for (size_t i = 0; i < head; i++) result += all[i].bytes;
    result += ellipsis;
    for (size_t i = tail; i < all.size(); i++) result += all[i].bytes;
    return result;
}

int answer_width(int descriptor) {
    if (const char *columns = std::getenv("COLUMNS")) {
        int value = 0;
        const char *end = columns + std::strlen(columns);
        const auto [rest, error] = std::from_chars(columns, end, value);
        if (error == std::errc() && rest == end && value > 0) return std::max(value, narrowest);
    }
    winsize size{};
    const bool is_terminal = isatty(descriptor) == 1 && ioctl(descriptor, TIOCGWINSZ, &size) == 0;
    return is_terminal && size.ws_col > 0 ? std::max<int>(size.ws_col, narrowest) : without_terminal;
}

}  // namespace kiln
