#include "cli/network/network_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/network/network_plan.h"
#include "text/markup.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

using network::KernelCall;
using network::Program;
using network::Step;

// Light, so that black text can be read on them; told apart by people with any colour vision.
constexpr std::string_view color_of_nhwc = "#cfe6f7", color_of_nchw = "#fbe0b5", color_of_blocks = "#e3d3ee",
                           color_of_others = "#eeeeee";

std::string_view color_of(const Step &step) {
    if (step.layout == "NHWC") return color_of_nhwc;
    if (step.layout == "NCHW") return color_of_nchw;
    return step.layout.empty() ? color_of_others : color_of_blocks;
}

std::string size_of(int64_t bytes) {
    return bytes < 1 << 20 ? fmt::format("{:.1f} KiB", double(bytes) / 1024)
                           : fmt::format("{:.1f} MiB", double(bytes) / (1 << 20));
}

std::string html_of(const Table &table) {
    std::string html = "<table>\n<tr>";
    for (const std::string &column : table.columns) html += "<th>" + xml_text(column) + "</th>";
    html += "</tr>\n";
    for (const auto &row : table.rows) {
        html += "<tr>";
        for (const Cell &cell : row) {
            if (const auto *text = std::get_if<std::string>(&cell)) {
                html += "<td>" + xml_text(*text) + "</td>";
            } else if (const auto *real = std::get_if<double>(&cell)) {
                html += fmt::format("<td class=\"number\">{:.4g}</td>", *real);
            } else if (const auto *integer = std::get_if<int64_t>(&cell)) {
                html += fmt::format("<td class=\"number\">{}</td>", *integer);
            } else {
                html += "<td></td>";
            }
        }
        html += "</tr>\n";
    }
    return html + "</table>\n";
}

}  // namespace

std::string program_graph(const Program &program, const std::vector<std::optional<double>> &step_ns) {
    double all_ns = 0;
    for (const auto &ns : step_ns) all_ns += ns.value_or(0);
    std::string text = "digraph network {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
    for (size_t i = 0; i < program.steps.size(); i++) {
        const Step &step = program.steps[i];
        std::string label = quoted_line(step.name) + "\n" + step_kind(step);
        if (step_ns[i] && all_ns > 0) {
            label += fmt::format("\n{:.1f} us, {:.1f} %", *step_ns[i] * 1e-3, 100 * *step_ns[i] / all_ns);
        }
        const auto *call = std::get_if<KernelCall>(&step.work);
        text += fmt::format("  s{} [label={}, tooltip={}, fillcolor=\"{}\"];\n", i, graphviz_string(label),
                            graphviz_string(call ? key(call->workload) : size_of(step.result_bytes) + " copied"),
                            color_of(step));
        for (const int from : step.reads) {
            const int64_t bytes = program.steps[size_t(from)].result_bytes;
            const double width = std::clamp(std::log2(1 + double(bytes) / 4096), 0.5, 10.0);
            text += fmt::format("  s{} -> s{} [penwidth={:.1f}, edgetooltip={}];\n", from, i, width,
                                graphviz_string(size_of(bytes)));
        }
    }
    return text + "}\n";
}

std::string to_html(const NetworkPage &page) {
    const std::string title = xml_text(page.title);
    std::string html = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>\n"
        "body {{ font-family: sans-serif; margin: 1.5em; }}\n"
        "table {{ border-collapse: collapse; font-size: 85%; }}\n"
        "td, th {{ border: 1px solid #bbb; padding: 0.2em 0.5em; text-align: left; vertical-align: top; }}\n"
        "td.number {{ text-align: right; }}\n"
        "span.key {{ padding: 0 0.6em; border: 1px solid #888; }}\n"
        ".drawing {{ max-height: 90vh; overflow: auto; border: 1px solid #bbb; }}\n"
        "</style></head><body>\n<h1>{0}</h1>\n<ul>\n",
        title);
    for (const std::string &line : page.summary) html += "<li>" + xml_text(line) + "</li>\n";
    html += fmt::format(
        "</ul>\n<p>Colour: layout of the result. <span class=\"key\" style=\"background:{}\">NHWC</span> "
        "<span class=\"key\" style=\"background:{}\">NCHW</span> <span class=\"key\" style=\"background:{}\">blocks of "
        "channels</span> <span class=\"key\" style=\"background:{}\">without spatial axes</span>. Width of an edge: "
        "its bytes. Point at a step for its workload.</p>\n",
        color_of_nhwc, color_of_nchw, color_of_blocks, color_of_others);
    html += "<div class=\"drawing\">\n" + page.drawing + "</div>\n<h2>Steps</h2>\n" + html_of(page.steps);
    if (!page.alterations.rows.empty()) html += "<h2>Alterations</h2>\n" + html_of(page.alterations);
    return html + "</body></html>\n";
}

}  // namespace kiln
