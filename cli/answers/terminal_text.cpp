#include "cli/answers/terminal_text.h"

#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "text/utf8.h"

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

// What the C library does not know, such as a character newer than itself, is most likely shown in one column.
int width_of(const Utf8Character &c) {
    const int known = c.broken || c.code == 0 ? 1 : wcwidth(static_cast<wchar_t>(c.code));
    return known < 0 ? 1 : known;
}

// The end of a text from which as many characters are taken as fit.
size_t fitting_head(std::string_view text, int room) {
    const size_t most = bytes_of_columns(room);
    size_t end = 0;
    while (end < text.size() && end < most) {
        const Utf8Character c = first_character(text.substr(end));
        room -= width_of(c);
        if (room < 0) break;
        end += c.bytes.size();
    }
    return end;
}

// Where the last characters of a text begin that fit.
size_t fitting_tail(std::string_view text, int room) {
    const size_t most = bytes_of_columns(room);
    size_t begin = text.size();
    while (begin > 0 && text.size() - begin < most) {
        size_t at = begin - 1;
        while (at > 0 && begin - at < 4 && (text[at] & 0xC0) == 0x80) at--;
        room -= width_of(first_character(text.substr(at)));
        if (room < 0) break;
        begin = at;
    }
    return begin;
}

}  // namespace

int display_width(std::string_view text) {
    const Utf8Locale locale;
    int64_t width = 0;
    while (!text.empty()) {
        const Utf8Character c = first_character(text);
        width += width_of(c);
        text.remove_prefix(c.bytes.size());
    }
    return static_cast<int>(std::min<int64_t>(width, std::numeric_limits<int>::max()));
}

std::string shortened(std::string_view text, int width) {
    const Utf8Locale locale;
    if (width < 1) return "";
    if (fitting_head(text, width) == text.size()) return std::string(text);
    const int tail_room = (width - 1) / 2, head_room = width - 1 - tail_room;
    const size_t head = fitting_head(text, head_room), tail = std::max(head, fitting_tail(text, tail_room));
    return std::string(text.substr(0, head)) + std::string(ellipsis) + std::string(text.substr(tail));
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
