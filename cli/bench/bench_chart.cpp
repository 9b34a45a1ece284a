#include "cli/bench/bench_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cli/answers/terminal_text.h"
#include "compare/roofline.h"
#include "text/markup.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

// Kiln first, then peers in the order asked for. Told apart by people with any colour vision, and in print.
constexpr std::string_view colors[] = {"#0b6e4f", "#e69f00", "#56b4e9", "#9467bd"};
constexpr std::string_view red = "#c00";

// Pixels.
constexpr double margin = 12, plot_width = 620, numbers_width = 60, top = 92, bar_height = 13, gap = 12, axis = 24;
constexpr double character = 6.5;  // of the layers' names, about
constexpr int longest_name = 44, longest_problem = 110;

std::string text(double x, double y, std::string_view attributes, const std::string &content) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}{}>{}</text>\n", x, y, attributes.empty() ? "" : " ",
                       attributes, content);
}

std::string rectangle(double x, double y, double width, double height, std::string_view color) {
    return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y,
                       width, height, color);
}

// An upright line; `more` is other attributes, `content` a title or nothing.
std::string upright(double x, double from, double to, std::string_view more, const std::string &content = "") {
    return fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" {3}>{4}</line>\n", x, from,
                       to, more, content);
}

std::string title(const std::string &content) { return "<title>" + content + "</title>"; }

const std::string peak_line = fmt::format("stroke=\"{}\" stroke-width=\"1.5\" stroke-dasharray=\"5 3\"", red);
const std::string roofline_tick = fmt::format("stroke=\"{}\" stroke-width=\"2.5\"", red);

struct Bar {
    std::string_view color;
    double gflops = 0;
    std::string missing;  // why there is no bar
};

// A layer's place in the chart.
struct Group {
    const NamedWorkload *workload = nullptr;
    std::vector<Bar> bars;
    std::optional<double> roofline;
    double y = 0;

    double height() const { return static_cast<double>(bars.size()) * bar_height; }
};

struct Chart {
    std::vector<Group> groups;
    double left = 0, bottom = 0, limit = 1;  // GFLOP/s at the right end of the plot

    double x(double gflops) const { return left + plot_width * gflops / limit; }
    double width() const { return left + plot_width + numbers_width + margin; }
};

Group group_of(const BenchReport &report, size_t i) {
    const Workload &workload = report.workloads[i].workload;
    const Layer &layer = report.layers[i];
    Group group{
        .workload = &report.workloads[i],
        .bars = {},
        .roofline = roofline_gflops(workload, peak_of(report, workload), report.bandwidths, report.target.threads)};
    const auto add = [&](const std::optional<Timing> &timing, const std::string &problem) {
        const std::string_view color = colors[group.bars.size() % std::size(colors)];
        group.bars.push_back(timing ? Bar{color, gflops(workload, *timing), ""} : Bar{color, 0, problem});
    };
    add(layer.chosen, layer.problem);
    for (const PeerTiming &peer : layer.peers) add(peer.timing, peer.problem);
    return group;
}

std::string shown_name(const NamedWorkload &workload) { return shortened(quoted_line(workload.name), longest_name); }

Chart laid_out(const BenchReport &report) {
    Chart chart;
    double y = top, longest = 0;
    chart.limit = std::max(report.peak.gflops, report.int8_peak ? report.int8_peak->gflops : 0);
    for (size_t i = 0; i < report.layers.size(); i++) {
        Group group = group_of(report, i);
        group.y = y;
        y += group.height() + gap;
        longest = std::max(longest, character * display_width(shown_name(*group.workload)));
        for (const Bar &bar : group.bars) chart.limit = std::max(chart.limit, bar.gflops);
        chart.groups.push_back(std::move(group));
    }
    chart.limit = std::max(chart.limit * 1.02, 1e-9);
    chart.left = std::max(margin + longest + 8, 90.0);
    chart.bottom = y;
    return chart;
}

// What the colors and the red lines are, all above the plot.
std::string head(const BenchReport &report) {
    std::string svg = text(margin, 22, "font-size=\"15\"", "GFLOP/s a layer, operations of the direct convolution");
    svg += text(margin, 40, "", "target " + xml_text(to_text(report.target)));
    std::vector<std::string> names = {"kiln"};
    names.insert(names.end(), report.peers.begin(), report.peers.end());
    double x = margin;
    for (size_t i = 0; i < names.size(); i++) {
        svg += rectangle(x, 50, 10, 10, colors[i % std::size(colors)]) + text(x + 15, 59, "", xml_text(names[i]));
        x += 110;
    }
    const std::string fill = fmt::format("fill=\"{}\"", red);
    svg += upright(margin + 5, 66, 78, peak_line) +
           text(margin + 15, 76, fill,
                fmt::format("FMA peak {:.1f} ({})", report.peak.gflops, xml_text(report.peak.instructions)));
    const bool has_roofline = !report.bandwidths.empty();
    if (has_roofline) {
        svg += upright(margin + 265, 66, 78, roofline_tick) +
               text(margin + 275, 76, fill, "roofline, where memory bandwidth is the limit");
    }
    return svg;
}

// 1, 2 or 5 times a power of ten: some five to ten grid lines.
double grid_step(double limit) {
    const double power = std::pow(10, std::floor(std::log10(limit / 5)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (limit / (factor * power) <= 10) return factor * power;
    }
    return 10 * power;
}

std::string grid(const Chart &chart) {
    std::string svg;
    const double step = grid_step(chart.limit);
    for (double value = 0; value <= chart.limit; value += step) {
        svg += upright(chart.x(value), top - 4, chart.bottom, "stroke=\"#ddd\"");
        svg += text(chart.x(value), chart.bottom + 14, "text-anchor=\"middle\"", fmt::format("{:g}", value));
    }
    return svg;
}

// The number stands in a column of its own, right of the plot.
std::string drawn(const Chart &chart, const Bar &bar, double y) {
    if (!bar.missing.empty()) {
        const std::string why = shortened(quoted_line(bar.missing), longest_problem);
        return text(chart.left + 3, y + bar_height - 3, "font-size=\"9\" fill=\"#777\"", xml_text(why));
    }
    return rectangle(chart.left, y, chart.x(bar.gflops) - chart.left, bar_height - 2, bar.color) +
           text(chart.left + plot_width + numbers_width, y + bar_height - 3, "font-size=\"10\" text-anchor=\"end\"",
                fmt::format("{:.1f}", bar.gflops));
}

std::string drawn(const Chart &chart, const Group &group, double peak) {
    const NamedWorkload &w = *group.workload;
    std::string svg = text(chart.left - 8, group.y + group.height() / 2 + 3, "text-anchor=\"end\"",
                           xml_text(shown_name(w)) + title(xml_text(w.name) + ": " + xml_text(key(w.workload))));
    double y = group.y;
    for (const Bar &bar : group.bars) {
        svg += drawn(chart, bar, y);
        y += bar_height;
    }
    if (group.roofline && *group.roofline < 0.999 * peak) {
        svg += upright(chart.x(*group.roofline), group.y - 2, y, roofline_tick,
                       title(fmt::format("roofline {:.1f} GFLOP/s: memory bandwidth", *group.roofline)));
    }
    return svg;
}

}  // namespace

std::string bench_chart(const BenchReport &report) {
    const Chart chart = laid_out(report);
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"11\" fill=\"#222\">\n",
        chart.width(), chart.bottom + axis);
    svg += rectangle(0, 0, chart.width(), chart.bottom + axis, "#fff") + head(report) + grid(chart);
    for (const Group &group : chart.groups)
        svg += drawn(chart, group, peak_of(report, group.workload->workload).gflops);
    svg += upright(chart.x(report.peak.gflops), top - 8, chart.bottom, peak_line);
    if (report.int8_peak) {
        svg += upright(chart.x(report.int8_peak->gflops), top - 8, chart.bottom, peak_line,
                       title(fmt::format("peak of quantized layers {:.1f}", report.int8_peak->gflops)));
    }
    return svg + "</svg>\n";
}

}  // namespace kiln
