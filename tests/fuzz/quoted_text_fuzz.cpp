// Text of any bytes, as kiln shows it and puts it into files.
#include <nlohmann/json.hpp>

#include "tests/fuzz/fuzz_input.h"
#include "text/markup.h"
#include "text/quoted_text.h"
#include "text/utf8.h"

using namespace kiln;

namespace {

// Nothing that a terminal obeys, but for the characters of `also`.
bool is_plain(std::string_view text, std::string_view also) {
    while (!text.empty()) {
        const Utf8Character c = first_character(text);
        if (c.broken || (!kiln::is_plain(c.code) && also.find(c.bytes) == std::string_view::npos)) return false;
        text.remove_prefix(c.bytes.size());
    }
    return true;
}

void check_json(const std::string &text) {
    constexpr auto replace = nlohmann::json::error_handler_t::replace;
    const std::string document = nlohmann::json{{text, text}}.dump(1, ' ', false, replace);
    const std::string quoted = quoted_json(document);
    KILN_FUZZ_EXPECT(is_plain(quoted, "\n"));
    KILN_FUZZ_EXPECT(nlohmann::json::parse(quoted) == nlohmann::json::parse(document));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string text = FuzzInput(data, size).rest();
    const std::string line = quoted_line(text), lines = quoted_lines(text);
    KILN_FUZZ_EXPECT(is_plain(line, ""));
    KILN_FUZZ_EXPECT(is_plain(lines, "\n\t"));
    KILN_FUZZ_EXPECT(quoted_line(line) == line && quoted_lines(lines) == lines);
    check_json(text);
    KILN_FUZZ_EXPECT(xml_text(text).find_first_of("<>\"'") == std::string::npos);
    KILN_FUZZ_EXPECT(markdown_text(text).find('<') == std::string::npos);
    const std::string literal = c_string(text);
    KILN_FUZZ_EXPECT(literal.find('"', 1) == literal.size() - 1);
    return 0;
}
