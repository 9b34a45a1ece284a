#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cli/bench_report.h"

namespace kiln {
namespace {

// Kiln first, then peers in the order asked for. Told apart by people with any colour vision, and in print.
constexpr std::string_view colors[] = {"#0b6e4f", "#e69f00", "#56b4e9", "#9467bd"};

constexpr int left = 210, plot_width = 620, right = 70, top = 76, bar_height = 13, gap = 12;

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return result;
}

struct Bar {
    std::string_view color;
    double gflops = 0;
    std::string missing;  // why there is no bar
};

std::vector<Bar> bars(const BenchReport &report, size_t i) {
    const Workload &workload = report.workloads[i].workload;
    const Layer &layer = report.layers[i];
    std::vector<Bar> result;
    const auto add = [&](const std::optional<Timing> &timing, const std::string &problem) {
        const std::string_view color = colors[result.size() % std::size(colors)];
        result.push_back(timing ? Bar{color, gflops(workload, *timing), ""} : Bar{color, 0, problem});
    };
    add(layer.chosen, layer.problem);
    for (const PeerTiming &peer : layer.peers) add(peer.timing, peer.problem);
    return result;
}

// 1, 2 or 5 times a power of ten: some five to ten grid lines.
double grid_step(double limit) {
    const double power = std::pow(10, std::floor(std::log10(limit / 5)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (limit / (factor * power) <= 10) return factor * power;
    }
    return 10 * power;
}

}  // namespace

std::string bench_chart(const BenchReport &report) {
    const size_t count = report.layers.size();
    double limit = report.peak.gflops;
    int height = top;
    for (size_t i = 0; i < count; i++) {
        const std::vector<Bar> drawn = bars(report, i);
        for (const Bar &bar : drawn) limit = std::max(limit, bar.gflops);
        height += int(drawn.size()) * bar_height + gap;
    }
    limit = std::max(limit * 1.02, 1e-9);
    const auto x = [limit](double value) { return left + plot_width * value / limit; };
    const int bottom = height, width = left + plot_width + right;
    height += 40;

    std::string svg;
    auto out = std::back_inserter(svg);
    fmt::format_to(out,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                   "font-family=\"sans-serif\" font-size=\"11\" fill=\"#222\">\n"
                   "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n"
                   "<text x=\"12\" y=\"22\" font-size=\"15\">GFLOP/s a layer, operations of the direct "
                   "convolution</text>\n<text x=\"12\" y=\"40\">target {2}</text>\n",
                   width, height, escaped(to_text(report.target)));
    // Legend
    std::vector<std::string> names = {"kiln"};
    names.insert(names.end(), report.peers.begin(), report.peers.end());
    for (size_t i = 0; i < names.size(); i++) {
        const size_t at = 12 + i * 110;
        fmt::format_to(out,
                       "<rect x=\"{}\" y=\"50\" width=\"10\" height=\"10\" fill=\"{}\"/><text x=\"{}\" "
                       "y=\"59\">{}</text>\n",
                       at, colors[i % std::size(colors)], at + 15, escaped(names[i]));
    }
    const double step = grid_step(limit);
    for (double value = 0; value <= limit; value += step) {
        fmt::format_to(out,
                       "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#ddd\"/><text x=\"{0:.1f}\" "
                       "y=\"{3}\" text-anchor=\"middle\">{4:g}</text>\n",
                       x(value), top - 4, bottom, bottom + 14, value);
    }
    std::string numbers;  // above everything else
    int y = top;
    for (size_t i = 0; i < count; i++) {
        const std::vector<Bar> drawn = bars(report, i);
        const NamedWorkload &w = report.workloads[i];
        fmt::format_to(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}<title>{}</title></text>\n", left - 8,
                       y + int(drawn.size()) * bar_height / 2 + 4, escaped(w.name), escaped(key(w.workload)));
        const int layer_top = y;
        for (const Bar &bar : drawn) {
            if (bar.missing.empty()) {
                // Numbers have a white outline: lines pass behind them.
                fmt::format_to(out, "<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n", left, y,
                               x(bar.gflops) - left, bar_height - 2, bar.color);
                fmt::format_to(std::back_inserter(numbers),
                               "<text x=\"{:.1f}\" y=\"{}\" font-size=\"9\" stroke=\"#fff\" stroke-width=\"3\" "
                               "paint-order=\"stroke\">{:.1f}</text>\n",
                               x(bar.gflops) + 3, y + bar_height - 4, bar.gflops);
            } else {
                fmt::format_to(out, "<text x=\"{}\" y=\"{}\" font-size=\"9\" fill=\"#888\">{}</text>\n", left + 3,
                               y + bar_height - 4, escaped(bar.missing.substr(0, 100)));
            }
            y += bar_height;
        }
        const auto roofline = roofline_gflops(w.workload, report.peak, report.bandwidths, report.target.threads);
        if (roofline && *roofline < 0.999 * report.peak.gflops) {
            fmt::format_to(out,
                           "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#c00\" "
                           "stroke-width=\"2.5\"><title>roofline {3:.1f} GFLOP/s: memory bandwidth</title></line>\n",
                           x(*roofline), layer_top - 2, y, *roofline);
        }
        y += gap;
    }
    fmt::format_to(out,
                   "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#c00\" stroke-width=\"1.5\" "
                   "stroke-dasharray=\"5 3\"/>\n<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"end\" fill=\"#c00\">peak "
                   "{4:.1f} ({5}); ticks: roofline where memory bandwidth is the limit</text>\n",
                   x(report.peak.gflops), top - 8, bottom, bottom + 30, report.peak.gflops,
                   escaped(report.peak.instructions));
    return svg + numbers + "</svg>\n";
}

}  // namespace kiln
