// Elements of pictures, which are SVG files that need nothing else. Texts that come in are escaped already (text/markup.h).
#pragma once

#include <string>
#include <string_view>

#include "workload/result.h"

namespace kiln {

// Pixels.
struct SvgBox {
    double x, y, width, height;
};
struct SvgLine {
    double x1, y1, x2, y2;
};

std::string svg_text(double x, double y, std::string_view attributes, const std::string &content);
std::string svg_rectangle(const SvgBox &box, std::string_view color);
// `content`: a title or nothing.
std::string svg_line(const SvgLine &line, std::string_view attributes, const std::string &content = "");
// What a browser shows while the pointer is on an element.
std::string svg_title(const std::string &content);

// The whole file, on white.
std::string svg_picture(double width, double height, const std::string &content);
// Errors (environment): the file cannot be written.
Status write_svg(const std::string &svg, const std::string &path);

// Between grid lines: 1, 2 or 5 times a power of ten, so that there are some five to ten. Precondition: a limit above 0.
double grid_step(double limit);

}  // namespace kiln
