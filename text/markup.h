// Text from outside as a part of a file that another program reads. Each function answers text that stays inside the
// place where it is put.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// Content or a quoted attribute of XML, SVG and HTML: one line. Characters that quoted_line() writes out are written out,
// since XML has no form for most of them.
std::string xml_text(std::string_view text);

// Within a paragraph or a table's cell of Markdown: one line, with the same characters written out. It has no markup, and
// no HTML either.
std::string markdown_text(std::string_view text);

// A string of Graphviz's language with its quotes; newlines begin new lines of a label. Labels show the text as it is.
std::string graphviz_string(std::string_view text);

// Inside a comment of C, which it does not end: one line, with the same characters written out.
std::string comment_text(std::string_view text);

// A string literal of C and C++ with its quotes. It has the same bytes as the text.
std::string c_string(std::string_view text);

}  // namespace kiln
