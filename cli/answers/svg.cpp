#include "cli/answers/svg.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

namespace kiln {

std::string svg_text(double x, double y, std::string_view attributes, const std::string &content) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}{}>{}</text>\n", x, y, attributes.empty() ? "" : " ",
                       attributes, content);
}

std::string svg_rectangle(const SvgBox &box, std::string_view color) {
    return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", box.x,
                       box.y, box.width, box.height, color);
}

std::string svg_line(const SvgLine &line, std::string_view attributes, const std::string &content) {
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}>{}</line>\n", line.x1, line.y1,
                       line.x2, line.y2, attributes, content);
}

std::string svg_title(const std::string &content) { return "<title>" + content + "</title>"; }

std::string svg_picture(double width, double height, const std::string &content) {
    const std::string head = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"11\" fill=\"#222\">\n",
        width, height);
    return head + svg_rectangle({0, 0, width, height}, "#fff") + content + "</svg>\n";
}

Status write_svg(const std::string &svg, const std::string &path) {
    errno = 0;
    std::ofstream file(path, std::ios::trunc);
    file << svg;
    file.close();
    if (file) return {};
    return environment_error(fmt::format("{}: cannot be written: {}", path, std::strerror(errno != 0 ? errno : EIO)));
}

double grid_step(double limit) {
    const double power = std::pow(10, std::floor(std::log10(limit / 5)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (limit / (factor * power) <= 10) return factor * power;
    }
    return 10 * power;
}

}  // namespace kiln
