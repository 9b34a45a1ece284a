#include "cli/bench_report.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kiln {
namespace {

Timing timing(std::vector<double> rounds_ns) {
    Timing t;
    for (const double ns : rounds_ns) t.add(ns, ns * 0.9);
    return t;
}

TEST(TimingTest, MedianAndMinimum) {
    const Timing t = timing({300, 100, 200});
    EXPECT_EQ(t.median_ns(), 200);
    EXPECT_EQ(t.min_ns, 90);
}

TEST(RatioTest, OfMediansWithQuartilesOfTheRounds) {
    // A slow phase in the second round met both.
    const Ratio r = ratio(timing({110, 220, 120, 105, 130}), timing({100, 200, 100, 100, 100}));
    EXPECT_DOUBLE_EQ(r.value, 1.2);
    EXPECT_DOUBLE_EQ(r.lo, 1.1);
    EXPECT_DOUBLE_EQ(r.hi, 1.2);
    const Ratio one = ratio(timing({50}), timing({100}));
    EXPECT_EQ(one.value, 0.5);
    EXPECT_EQ(one.lo, 0.5);
    EXPECT_EQ(one.hi, 0.5);
}

TEST(Roofline, PeakOrTheBandwidthOfWhatHoldsTheTensors) {
    const FmaPeak peak{"", 80, 1, 1};
    // 100 000 operations; 6 000 bytes are read, 20 000 written.
    const Workload w = convolution({1, 10, 10, 10}, {1, 1, 10, 50});
    const Bandwidth l1{"L1", 8192, 2000, 1000}, l2{"L2", 1 << 18, 20, 10}, far{"DRAM", 1 << 26, 10, 5};
    EXPECT_EQ(roofline_gflops(w, peak, {}, 1), 80);
    EXPECT_NEAR(*roofline_gflops(w, peak, {l1, l2, far}, 1), 1e5 / 4000, 1e-9);
    EXPECT_EQ(*roofline_gflops(w, peak, {l1, l2, far}, 2), 80);  // fits both cores' L1
    EXPECT_NEAR(*roofline_gflops(w, peak, {far}, 1), 1e5 / 8000, 1e-9);
    // 4 040 000 bytes are read, 4 000 written.
    const Workload reads = convolution({1, 1, 1, 1000}, {1, 1, 1000, 1000});
    EXPECT_NEAR(*roofline_gflops(reads, peak, {far}, 1), 2e6 / (8000 / 5.0 + 4e6 / 10), 1e-6);
    const Workload transform = *parse_workload_key("winograd_input_transform/input:1x8x8x16/window:3x3/tile:2x2");
    EXPECT_FALSE(roofline_gflops(transform, peak, {l1}, 1));
}

size_t count(const std::string &text, const std::string &what) {
    size_t n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) n++;
    return n;
}

// Elements are closed in order, attributes quoted, and no `&` or `<` stands alone: what XML asks of this file.
void expect_well_formed(const std::string &svg) {
    std::vector<std::string> open;
    for (size_t i = 0; i < svg.size(); i++) {
        if (svg[i] == '&') {
            const std::string entity = svg.substr(i, svg.find(';', i) - i);
            EXPECT_TRUE(entity == "&amp" || entity == "&lt" || entity == "&gt" || entity == "&quot") << entity;
        }
        if (svg[i] != '<') continue;
        const size_t end = svg.find('>', i);
        ASSERT_NE(end, std::string::npos);
        const std::string tag = svg.substr(i + 1, end - i - 1);
        EXPECT_EQ(tag.find('<'), std::string::npos) << tag;
        EXPECT_EQ(count(tag, "\"") % 2, 0u) << tag;
        if (tag.starts_with("/")) {
            ASSERT_FALSE(open.empty()) << tag;
            EXPECT_EQ(open.back(), tag.substr(1));
            open.pop_back();
        } else if (!tag.ends_with("/")) {
            open.push_back(tag.substr(0, tag.find(' ')));
        }
        i = end;
    }
    EXPECT_TRUE(open.empty());
}

BenchReport report() {
    const Result<Target> target = parse_target("baseline", 1, "x86-64-linux");
    EXPECT_TRUE(target.ok());
    BenchReport r{.workloads = {},
                  .layers = {},
                  .target = *target,
                  .peak = {"AVX2 FMA", 80, 2.5, 32},
                  .bandwidths = {},
                  .peers = {"onednn", "openvino"}};
    const Workload w = convolution({1, 10, 10, 10}, {1, 1, 10, 50});  // 100 000 operations
    Layer good{.algorithm = "direct", .chosen = timing({2000}), .standard = timing({2500}), .peers = {}};
    good.peers = {{.name = "onednn", .version = "3", .timing = timing({2500})},
                  {.name = "openvino", .version = "1", .timing = {}, .problem = "unsupported: <a> & \"b\""}};
    Layer bad;
    bad.problem = "crash\nsignal 11";
    for (const auto &[name, layer] : {std::pair<std::string, Layer>{"a<b", good}, {"c&d", bad}}) {
        NamedWorkload &named = r.workloads.emplace_back();
        named.list = "net";
        named.name = name;
        named.workload = w;
        r.layers.push_back(layer);
    }
    return r;
}

TEST(BenchChartTest, WellFormedWhateverTheNames) {
    BenchReport measured = report();
    measured.bandwidths = {{"L2", 1 << 18, 20, 10}};
    const std::string svg = bench_chart(measured);
    expect_well_formed(svg);
    EXPECT_EQ(count(svg, "roofline 25.0 GFLOP/s"), 2u);
    EXPECT_EQ(count(bench_chart(report()), "roofline 25.0"), 0u);
    for (const char *text : {"a&lt;b", "c&amp;d", ">50.0<", ">40.0<", "unsupported: &lt;a&gt; &amp; &quot;b&quot;",
                             "crash signal 11", "peak 80.0 (AVX2 FMA)", ">kiln<", ">onednn<", ">openvino<"}) {
        EXPECT_NE(svg.find(text), std::string::npos) << text << "\n" << svg;
    }
}

TEST(BenchChartTest, NothingMeasured) {
    BenchReport r = report();
    r.peak.gflops = 0;
    r.layers = {Layer{}, Layer{}};
    expect_well_formed(bench_chart(r));
}

}  // namespace
}  // namespace kiln
