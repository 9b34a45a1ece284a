#include "text/markup.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Markup, Xml) {
    const struct {
        std::string text, expected;
    } cases[] = {
        {"conv1 µs", "conv1 µs"},
        {"</text><script>alert('x\"&amp;')</script>",
         "&lt;/text&gt;&lt;script&gt;alert(&#39;x&quot;&amp;amp;&#39;)&lt;/script&gt;"},
        {"]]> <!-- <![CDATA[", "]]&gt; &lt;!-- &lt;![CDATA["},
        {"a\x1b\n\xff\u202e\ufffe", "a\\x1b\\n\\xff\\u202e\\ufffe"},
    };
    for (const auto &c : cases) EXPECT_EQ(xml_text(c.text), c.expected);
}

TEST(Markup, Markdown) {
    const struct {
        std::string text, expected;
    } cases[] = {
        {"resnet50/conv2_1.a (3x3) - µs", "resnet50/conv2_1.a (3x3) - µs"},
        {"a | b\n| c", "a \\| b\\\\n\\| c"},
        {"[click](javascript:alert(1))", "\\[click\\](javascript:alert(1))"},
        {"![x](http://y)", "!\\[x\\](http://y)"},
        {"<img src=x onerror=y> &lt;", "&lt;img src=x onerror=y&gt; &amp;lt;"},
        {"`code` *bold* _under_ ~gone~ \\|", "\\`code\\` \\*bold\\* \\_under\\_ \\~gone\\~ \\\\\\|"},
    };
    for (const auto &c : cases) EXPECT_EQ(markdown_text(c.text), c.expected);
}

TEST(Markup, CString) {
    const struct {
        std::string text, expected;
    } cases[] = {
        {"conv1", "\"conv1\""},
        {"a\"; system(\"x\\", "\"a\\042; system(\\042x\\134\""},
        {"\n1", "\"\\0121\""},
        {"?\?/", "\"\\077\\077/\""},
        {std::string("\0\xff", 2), "\"\\000\\377\""},
        {"µ", "\"\\302\\265\""},
    };
    for (const auto &c : cases) EXPECT_EQ(c_string(c.text), c.expected);
}

TEST(Markup, CommentsOfCDoNotEnd) {
    const std::pair<const char *, const char *> cases[] = {
        {"a 3x3/b", "a 3x3/b"}, {"a*/b", "a* /b"}, {"/*a*/*/", "/ *a* / * /"}, {"*//*", "* // *"}, {"**//", "** //"},
    };
    for (const auto &[text, expected] : cases) EXPECT_EQ(comment_text(text), expected);
    EXPECT_EQ(comment_text("a\nb").find('\n'), std::string::npos);
}

TEST(Markup, GraphvizShowsTheTextAsItIs) {
    const struct {
        std::string text, expected;
    } cases[] = {{"plain", "\"plain\""},
                 {"", "\"\""},
                 {"a \"b\" \\n", "\"a \\\"b\\\" \\\\n\""},
                 {"two\nlines", "\"two\\nlines\""},
                 {"x &lt; y", "\"x &amp;lt; y\""}};
    for (const auto &c : cases) EXPECT_EQ(graphviz_string(c.text), c.expected);
}

}  // namespace
}  // namespace kiln
