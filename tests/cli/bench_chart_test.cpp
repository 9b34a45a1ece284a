#include "cli/bench/bench_chart.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>

#include "tests/cli/sample_bench_report.h"

namespace kiln {
namespace {

size_t count(const std::string &text, const std::string &what) {
    size_t n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) n++;
    return n;
}

// As Python's parser sees it.
void expect_well_formed(const std::string &svg) {
    const std::string path = testing::TempDir() + "/kiln_bench_chart_test.svg";
    std::ofstream(path, std::ios::trunc | std::ios::binary) << svg;
    const std::string command =
        "python3 -c 'import sys, xml.etree.ElementTree as t; "
        "sys.exit(not t.parse(sys.argv[1]).getroot().tag.endswith(\"}svg\"))' " +
        path;
    EXPECT_EQ(std::system(command.c_str()), 0) << svg;
}

TEST(BenchChartTest, WellFormedWhateverTheNames) {
    BenchReport measured = sample_bench_report();
    measured.bandwidths = {{"L2", 1 << 18, 20, 10}};
    const std::string svg = bench_chart(measured);
    expect_well_formed(svg);
    EXPECT_EQ(count(svg, "roofline 38.5 GFLOP/s"), 2u);
    EXPECT_EQ(count(bench_chart(sample_bench_report()), "roofline"), 0u);
    for (const char *text : {"a&lt;b", "c&amp;d", ">50.0<", ">40.0<", "unsupported: &lt;a&gt; &amp; &quot;b&quot;",
                             "crash\\nsignal 11", "FMA peak 80.0 (AVX2 FMA)", ">kiln<", ">onednn<", ">openvino<"}) {
        EXPECT_NE(svg.find(text), std::string::npos) << text << "\n" << svg;
    }
    for (const char *name : {"\x01\x1b[31m", "\xff\xfe", "]]>", "\xe2\x80\xae", "'\"<!--"}) {
        measured.workloads[0].name = name;
        measured.layers[1].problem = name;
        expect_well_formed(bench_chart(measured));
    }
}

TEST(BenchChartTest, NothingMeasured) {
    BenchReport r = sample_bench_report();
    r.peak.gflops = 0;
    r.layers = {Layer{}, Layer{}};
    expect_well_formed(bench_chart(r));
    r.layers.clear();
    r.workloads.clear();
    expect_well_formed(bench_chart(r));
}

// Everything lies within the picture, however far bars pass the peak; numbers stand right of every line.
TEST(BenchChartTest, NothingIsCutOffOrUnderALine) {
    for (const double ns : {1e9, 2000.0, 300.0, 20.0, 0.001}) {
        BenchReport r = sample_bench_report();
        r.layers[0].chosen = timing({ns});
        r.workloads[0].name = std::string(200, 'w');
        const std::string svg = bench_chart(r);
        std::smatch size;
        ASSERT_TRUE(std::regex_search(svg, size, std::regex("width=\"(\\d+)\"")));
        const double width = std::stod(size[1]);
        double rightmost_line = 0, leftmost_number = width;
        const std::regex lines("<line x1=\"([-0-9.]+)\""), texts("<text x=\"([-0-9.]+)\"[^>]*font-size=\"10\"[^>]*>");
        for (std::sregex_iterator i(svg.begin(), svg.end(), lines), end; i != end; ++i) {
            const double x = std::stod((*i)[1]);
            EXPECT_GE(x, 0);
            EXPECT_LE(x, width);
            rightmost_line = std::max(rightmost_line, x);
        }
        for (std::sregex_iterator i(svg.begin(), svg.end(), texts), end; i != end; ++i) {
            leftmost_number = std::min(leftmost_number, std::stod((*i)[1]) - 50);  // their right end
        }
        EXPECT_GT(leftmost_number, rightmost_line) << svg;
    }
}

}  // namespace
}  // namespace kiln
