#include "cli/answers/candidate_text.h"

#include <gtest/gtest.h>

#include <map>

#include "catalog/catalog.h"

namespace kiln {
namespace {

const Machine machine = {.cpu_model = "Some CPU", .cpu_id = "AuthenticAMD-25-17-1", .cores = 2, .l3_bytes = 32 << 20};

Target target() { return *parse_target("avx2", 1, "x86-64-linux"); }

Workload layer() {
    Workload w = convolution({1, 28, 28, 64}, {3, 3, 64, 64});
    w.padding = {{1, 1}, {1, 1}};
    return w;
}

// The knobs that `/…` stands for, put back.
std::string whole(const std::string &text, const Candidate &standard) {
    const std::string mark = "/…";
    if (!text.ends_with(mark)) return text;
    Candidate candidate = *parse_candidate(text.substr(0, text.size() - mark.size()));
    candidate.knobs.insert(standard.knobs.begin(), standard.knobs.end());
    return to_text(candidate);
}

TEST(CandidateText, StillSaysWhichCandidateItIs) {
    const Workload w = layer();
    const Target t = target();
    int shortened = 0;
    for (const Algorithm &algorithm : catalog()) {
        if (!algorithm.applies(w, t)) continue;
        const Space space = algorithm.space(w, t, core_of(machine, t));
        const Candidate &standard = space.default_candidate();
        EXPECT_EQ(whole(short_text(standard, {w, t, machine}), standard), to_text(standard));
        std::map<std::string, Candidate> by_text;
        Rng random(1);
        for (int i = 0; i < 40; i++) {
            const std::optional<Candidate> candidate = space.sample(random);
            ASSERT_TRUE(candidate);
            const std::string text = short_text(*candidate, {w, t, machine});
            EXPECT_EQ(whole(text, standard), to_text(*candidate));
            EXPECT_EQ(by_text.emplace(text, *candidate).first->second, *candidate) << text;
            shortened += text != to_text(*candidate);
        }
    }
    EXPECT_GT(shortened, 40);
}

TEST(CandidateText, WhatHasNoDefaultStaysWhole) {
    const Workload w = layer();
    const Target t = target();
    const Candidate standard = find_algorithm("direct")->space(w, t, core_of(machine, t)).default_candidate();
    std::vector<Candidate> odd(5, standard);
    odd[0].algorithm_version = 99;
    odd[1].schedule_version = 99;
    odd[2].knobs.erase(odd[2].knobs.begin());
    odd[3].knobs.emplace("of_tomorrow", 1);
    odd[4].algorithm = "unknown";
    for (const Candidate &candidate : odd) EXPECT_EQ(short_text(candidate, {w, t, machine}), to_text(candidate));
}

TEST(CandidateText, InTheColumnOfAnAnswer) {
    const Workload w = layer();
    Machine measured = machine;
    const Candidate standard =
        find_algorithm("direct")->space(w, target(), core_of(measured, target())).default_candidate();
    Table table{{"candidate", "workload", "target", "threads", "machine"}, {}};
    const auto add = [&](const std::string &candidate, const std::string &workload, const std::string &where) {
        table.rows.push_back({candidate, workload, target().halide, int64_t{1}, where});
    };
    add(to_text(standard), key(w), key(measured));
    add(to_text(standard), "of another kiln", key(measured));
    add(to_text(standard), key(w), "of another kiln");
    add("of another kiln", key(w), key(measured));
    table.rows.push_back({Cell(), Cell(), Cell(), Cell(), Cell()});
    EXPECT_TRUE(shorten_candidates(&table));
    const std::string names = "direct@" + std::to_string(standard.algorithm_version) + "/" + standard.schedule + "@" +
                              std::to_string(standard.schedule_version);
    EXPECT_EQ(std::get<std::string>(table.rows[0][0]), names + "/…");
    EXPECT_EQ(std::get<std::string>(table.rows[1][0]), to_text(standard));
    EXPECT_EQ(std::get<std::string>(table.rows[2][0]), to_text(standard));
    EXPECT_EQ(std::get<std::string>(table.rows[3][0]), "of another kiln");
    Table other{{"candidate"}, {{to_text(standard)}}};
    EXPECT_FALSE(shorten_candidates(&other));
}

}  // namespace
}  // namespace kiln
