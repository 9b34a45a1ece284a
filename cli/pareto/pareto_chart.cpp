#include "cli/pareto/pareto_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/answers/svg.h"
#include "cli/answers/terminal_text.h"
#include "cli/pareto/pareto_answer.h"
#include "text/markup.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

// Told apart by people with any colour vision, and in print.
constexpr std::string_view colors[] = {"#0b6e4f", "#e69f00", "#56b4e9", "#9467bd"};

// Pixels. Above the plot there is a line for each core.
constexpr double left = 60, plot_width = 640, plot_height = 360, right = 24, head = 34, legend = 16, foot = 40;
constexpr int longest_legend = 110;

struct Choice {
    double bytes, cycles;
};

// The choices of one core and one toolchain, ascending by bytes.
struct Curve {
    std::string core;
    std::vector<Choice> choices;
};

std::vector<Curve> curves_of(const Table &table) {
    std::vector<Curve> curves;
    for (const std::vector<Cell> &row : table.rows) {
        const auto word = [&](size_t i) { return std::get<std::string>(row.at(i)); };
        const std::string core = word(5) + ", " + word(6) + ", " + word(7);  // target, machine, toolchain
        if (curves.empty() || curves.back().core != core) curves.push_back({core, {}});
        curves.back().choices.push_back(
            {static_cast<double>(std::get<int64_t>(row[0])), static_cast<double>(std::get<int64_t>(row[1]))});
    }
    return curves;
}

// From 0 to a little more than the largest, in both directions.
class Plot {
public:
    explicit Plot(const std::vector<Curve> &curves) : top_(head + legend * static_cast<double>(curves.size())) {
        for (const Curve &curve : curves) {
            for (const Choice &choice : curve.choices) {
                bytes_ = std::max(bytes_, 1.05 * choice.bytes), cycles_ = std::max(cycles_, 1.05 * choice.cycles);
            }
        }
    }
    double x(double bytes) const { return left + plot_width * bytes / bytes_; }
    double y(double cycles) const { return bottom() - plot_height * cycles / cycles_; }
    double bottom() const { return top_ + plot_height; }
    std::string grid() const;

private:
    double top_, bytes_ = 1, cycles_ = 1;
};

std::string Plot::grid() const {
    constexpr std::string_view pale = "stroke=\"#ddd\"";
    std::string svg;
    for (double bytes = 0, step = grid_step(bytes_); bytes <= bytes_; bytes += step) {
        svg += svg_line({x(bytes), top_, x(bytes), bottom()}, pale);
        svg += svg_text(x(bytes), bottom() + 14, "text-anchor=\"middle\"", fmt::format("{:g}", bytes));
    }
    for (double cycles = 0, step = grid_step(cycles_); cycles <= cycles_; cycles += step) {
        svg += svg_line({left, y(cycles), left + plot_width, y(cycles)}, pale);
        svg += svg_text(left - 6, y(cycles) + 4, "text-anchor=\"end\"", fmt::format("{:g}", cycles / 1e6));
    }
    return svg + svg_text(left + plot_width, bottom() + 30, "text-anchor=\"end\"", "bytes of code and constants");
}

// A limit between two choices is served by the one with less code, so the line is a stair.
std::string stair(const Plot &plot, const Curve &curve, std::string_view color) {
    std::string path;
    for (const Choice &choice : curve.choices) {
        if (!path.empty()) path += fmt::format(" H{:.1f}", plot.x(choice.bytes));
        path += path.empty() ? fmt::format("M{:.1f},{:.1f}", plot.x(choice.bytes), plot.y(choice.cycles))
                             : fmt::format(" V{:.1f}", plot.y(choice.cycles));
    }
    path += fmt::format(" H{:.1f}", left + plot_width);
    return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n", path, color);
}

std::string dots(const Plot &plot, const Curve &curve, std::string_view color) {
    std::string svg;
    for (const Choice &choice : curve.choices) {
        svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\">{}</circle>\n",
                           plot.x(choice.bytes), plot.y(choice.cycles), color,
                           svg_title(fmt::format("{:.0f} bytes, {:.0f} cycles", choice.bytes, choice.cycles)));
    }
    return svg;
}

}  // namespace

std::string pareto_chart(const Table &table) {
    Table few = table;  // those that a terminal shows have dots
    thin_pareto(&few);
    const std::vector<Curve> curves = curves_of(table), marked = curves_of(few);
    const Plot plot(curves);
    std::string svg = svg_text(12, 22, "font-size=\"15\"", "Million cycles of all layers, by the bytes of their code");
    svg += plot.grid();
    for (size_t i = 0; i < curves.size(); i++) {
        const std::string_view color = colors[i % std::size(colors)];
        const double y = head + legend * static_cast<double>(i);
        const std::string name = shortened(quoted_line(curves[i].core), longest_legend);
        svg += svg_rectangle({12, y, 10, 10}, color) + svg_text(27, y + 9, "", xml_text(name));
        svg += stair(plot, curves[i], color) + dots(plot, marked[i], color);
    }
    return svg_picture(left + plot_width + right, plot.bottom() + foot, svg);
}

}  // namespace kiln
