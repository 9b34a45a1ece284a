#include "cli/bench/bench_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/answers/svg.h"
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

// An upright line.
std::string upright(double x, double from, double to, std::string_view more, const std::string &content = "") {
    return svg_line({x, from, x, to}, more, content);
}

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
    std::string svg = svg_text(margin, 22, "font-size=\"15\"", "GFLOP/s a layer, operations of the direct convolution");
    svg += svg_text(margin, 40, "", "target " + xml_text(to_text(report.target)));
    std::vector<std::string> names = {"kiln"};
    names.insert(names.end(), report.peers.begin(), report.peers.end());
    double x = margin;
    for (size_t i = 0; i < names.size(); i++) {
        svg += svg_rectangle({x, 50, 10, 10}, colors[i % std::size(colors)]) +
               svg_text(x + 15, 59, "", xml_text(names[i]));
        x += 110;
    }
    const std::string fill = fmt::format("fill=\"{}\"", red);
    svg += upright(margin + 5, 66, 78, peak_line) +
           svg_text(margin + 15, 76, fill,
                    fmt::format("FMA peak {:.1f} ({})", report.peak.gflops, xml_text(report.peak.instructions)));
    const bool has_roofline = !report.bandwidths.empty();
    if (has_roofline) {
        svg += upright(margin + 265, 66, 78, roofline_tick) +
               svg_text(margin + 275, 76, fill, "roofline, where memory bandwidth is the limit");
    }
    return svg;
}

std::string grid(const Chart &chart) {
    std::string svg;
    const double step = grid_step(chart.limit);
    for (double value = 0; value <= chart.limit; value += step) {
        svg += upright(chart.x(value), top - 4, chart.bottom, "stroke=\"#ddd\"");
        svg += svg_text(chart.x(value), chart.bottom + 14, "text-anchor=\"middle\"", fmt::format("{:g}", value));
    }
    return svg;
}

// The number stands in a column of its own, right of the plot.
std::string drawn(const Chart &chart, const Bar &bar, double y) {
    if (!bar.missing.empty()) {
        const std::string why = shortened(quoted_line(bar.missing), longest_problem);
        return svg_text(chart.left + 3, y + bar_height - 3, "font-size=\"9\" fill=\"#777\"", xml_text(why));
    }
    return svg_rectangle({chart.left, y, chart.x(bar.gflops) - chart.left, bar_height - 2}, bar.color) +
           svg_text(chart.left + plot_width + numbers_width, y + bar_height - 3, "font-size=\"10\" text-anchor=\"end\"",
                    fmt::format("{:.1f}", bar.gflops));
}

std::string drawn(const Chart &chart, const Group &group, double peak) {
    const NamedWorkload &w = *group.workload;
    std::string svg =
        svg_text(chart.left - 8, group.y + group.height() / 2 + 3, "text-anchor=\"end\"",
                 xml_text(shown_name(w)) + svg_title(xml_text(w.name) + ": " + xml_text(key(w.workload))));
    double y = group.y;
    for (const Bar &bar : group.bars) {
        svg += drawn(chart, bar, y);
        y += bar_height;
    }
    if (group.roofline && *group.roofline < 0.999 * peak) {
        svg += upright(chart.x(*group.roofline), group.y - 2, y, roofline_tick,
                       svg_title(fmt::format("roofline {:.1f} GFLOP/s: memory bandwidth", *group.roofline)));
    }
    return svg;
}

}  // namespace

std::string bench_chart(const BenchReport &report) {
    const Chart chart = laid_out(report);
    std::string svg = head(report) + grid(chart);
    for (const Group &group : chart.groups)
        svg += drawn(chart, group, peak_of(report, group.workload->workload).gflops);
    svg += upright(chart.x(report.peak.gflops), top - 8, chart.bottom, peak_line);
    if (report.int8_peak) {
        svg += upright(chart.x(report.int8_peak->gflops), top - 8, chart.bottom, peak_line,
                       svg_title(fmt::format("peak of quantized layers {:.1f}", report.int8_peak->gflops)));
    }
    return svg_picture(chart.width(), chart.bottom + axis, svg);
}

}  // namespace kiln
