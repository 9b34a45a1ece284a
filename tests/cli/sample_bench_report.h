// A report of `kiln bench` with two layers, one of which failed, and names that no format may stumble on.
#pragma once

#include <gtest/gtest.h>

#include "cli/bench/bench_report.h"

namespace kiln {

inline Timing timing(std::vector<double> rounds_ns) {
    Timing t;
    for (const double ns : rounds_ns) t.add(ns, ns * 0.9);
    return t;
}

inline BenchReport sample_bench_report() {
    const Result<Target> target = parse_target("baseline", 1, "x86-64-linux");
    EXPECT_TRUE(target.ok());
    BenchReport r{.workloads = {},
                  .layers = {},
                  .target = *target,
                  .peak = {"AVX2 FMA", 80, 2.5, 32},
                  .bandwidths = {},
                  .peers = {"onednn", "openvino"}};
    const Workload w = convolution({1, 10, 10, 10}, {1, 1, 10, 50});  // 100 000 operations
    Layer good;
    good.algorithm = "direct";
    good.chosen = timing({2000});
    good.standard = timing({2500});
    good.peers = {
        {.name = "onednn", .version = "3", .timing = timing({2500}), .call_overheads_ns = {10}, .problem = ""},
        {.name = "openvino",
         .version = "1",
         .timing = {},
         .call_overheads_ns = {},
         .problem = "unsupported: <a> & \"b\""}};
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

}  // namespace kiln
