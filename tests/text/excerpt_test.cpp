#include "text/excerpt.h"

#include <gtest/gtest.h>

#include "text/quoted_text.h"

namespace kiln {
namespace {

TEST(Excerpt, ShortTextsAreWhole) {
    for (const size_t length : {0, 1, 199, 200}) {
        const std::string text(length, 'x');
        EXPECT_EQ(excerpt(text), text);
    }
}

TEST(Excerpt, LongTextsHaveABeginningAndAnEnd) {
    std::string text = "begin" + std::string(10 << 20, '.') + "end";
    const std::string shown = excerpt(text);
    EXPECT_TRUE(shown.starts_with("begin...")) << shown;
    EXPECT_TRUE(shown.ends_with("...end")) << shown;
    EXPECT_NE(shown.find("[... 10485608 bytes ...]"), std::string::npos) << shown;
    EXPECT_LE(shown.size(), 200U);
}

TEST(Excerpt, CharactersStayWhole) {
    for (const std::string character : {"µ", "畳", "🙂"}) {
        for (size_t shift = 0; shift < 4; shift++) {
            std::string text(shift, 'x');
            for (int i = 0; i < 200; i++) text += character;
            EXPECT_EQ(quoted_line(excerpt(text)), excerpt(text)) << "a broken byte would be written out";
        }
    }
}

}  // namespace
}  // namespace kiln
