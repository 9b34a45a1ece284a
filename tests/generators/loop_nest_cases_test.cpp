// The cases of loop_nests/: candidates that exist, and at least one for whatever may lose a loop unseen.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "catalog/catalog.h"
#include "catalog/quantized_algorithm.h"
#include "schedules/spaces/cpu_tile_cases.h"
#include "schedules/spaces/cpu_tile_space.h"
#include "schedules/spaces/movement/move_method.h"
#include "tests/build_paths.h"

namespace kiln {
namespace {

TEST(LoopNestCases, CoverAlgorithmsTileCasesAndMethods) {
    std::ifstream file(source_dir() + "/tests/generators/loop_nests/cases.json");
    std::set<std::string, std::less<>> algorithms, tile_cases_seen;
    std::set<int64_t> methods;
    Core core;
    core.l3_bytes = 16 << 20, core.reads_wide_windows = true;
    for (const auto &row : nlohmann::json::parse(file)) {
        const std::string name = row.at("name"), workload_key = row.at("workload"), text = row.at("candidate");
        const auto workload = parse_workload_key(workload_key);
        ASSERT_TRUE(workload) << name << ": " << workload.error().message;
        const auto target = parse_target(row.at("target").get<std::string>(), row.at("threads"), "");
        ASSERT_TRUE(target) << name << ": " << target.error().message;
        const auto candidate = parse_candidate(text);
        ASSERT_TRUE(candidate) << name << ": " << candidate.error().message;
        const Status fits = check_candidate(*candidate, *workload, *target);
        EXPECT_TRUE(fits) << name << ": " << fits.error().message;
        algorithms.insert(candidate->algorithm);
        if (candidate->schedule == move_tile_name) methods.insert(candidate->knobs.at("method"));
        const bool is_quantized_sum = candidate->algorithm == "quantized";
        if (candidate->algorithm != "direct" && !is_quantized_sum) continue;
        const auto knobs = *decode_knobs<CpuTileKnobs>(candidate->knobs);
        const ConvLoops loops = is_quantized_sum ? quantized_loops(*workload, *target) : conv_loops(*workload);
        const TileFacts facts = tile_facts(loops, tile_lanes(knobs, *target), *target, core);
        tile_cases_seen.insert(tile_case(facts, register_tile(knobs)).name);
    }
    for (const TileCase &row : tile_cases()) EXPECT_TRUE(tile_cases_seen.contains(row.name)) << row.name;
    for (const Algorithm &algorithm : catalog()) EXPECT_TRUE(algorithms.contains(algorithm.name)) << algorithm.name;
    EXPECT_EQ(methods, (std::set<int64_t>{move_rows, move_transpose, move_shuffle, move_stream, move_matrix}));
}

}  // namespace
}  // namespace kiln
