#include "compare/bench.h"

#include <gtest/gtest.h>

#include <deque>

#include "compare/roofline.h"
#include "tests/tuner/job/fake_workshop.h"

namespace kiln {
namespace {

// A library that answers as it is told to, and remembers what it was asked.
struct FakeLibrary {
    PeerLayer layer{.about = "fast", .reason = ""};
    std::deque<Result<PeerRound>> rounds;  // then `usual`
    PeerRound usual{.samples_ns = {5000, 4000, 6000}, .call_overhead_ns = 1000};
    std::optional<Error> start_error, prepare_error, profile_error;
    int starts = 0, prepared = 0, asked = 0, profiled = 0;
    std::string model;  // of the last network

    PeerSource source(const std::string &name);
};

class FakePeer : public Peer {
public:
    explicit FakePeer(FakeLibrary &library) : library_(library) {}
    Result<PeerLayer> prepare(const Workload &, int) override {
        library_.prepared++;
        if (library_.prepare_error) return *library_.prepare_error;
        return library_.layer;
    }
    Result<PeerLayer> prepare(const PeerNetwork &network, int) override {
        library_.model = network.model;
        return prepare(Workload(), 1);
    }
    Result<PeerRound> round(int64_t) override {
        library_.asked++;
        if (library_.rounds.empty()) return library_.usual;
        Result<PeerRound> next = library_.rounds.front();
        library_.rounds.pop_front();
        return next;
    }
    Result<PeerProfile> profile() override {
        library_.profiled++;
        if (library_.profile_error) return *library_.profile_error;
        return PeerProfile{{{"n0"}, 700}};
    }
    const std::string &version() const override { return version_; }

private:
    FakeLibrary &library_;
    std::string version_ = "9";
};

PeerSource FakeLibrary::source(const std::string &name) {
    return {name, [this]() -> Result<std::unique_ptr<Peer>> {
                starts++;
                if (start_error) return *start_error;
                return std::unique_ptr<Peer>(std::make_unique<FakePeer>(*this));
            }};
}

// Networks take as many ns as the name of their library says.
class FakeNetworkRunner : public NetworkRunner {
public:
    Result<Attempt<NetworkRunReport>> run(const NetworkRunRequest &request) override {
        runs++;
        if (fails_at == runs) return Attempt<NetworkRunReport>{Failure{TrialStatus::crash, "made to fail", "", {}}, 1};
        const double ns = std::stod(request.files.library);
        NetworkRunReport report;
        report.samples = {ns, ns + 1, ns + 2};
        return Attempt<NetworkRunReport>{report, 1};
    }

    int runs = 0, fails_at = 0;
};

Error lost() { return {ErrorCode::environment, "fake: ended in the middle"}; }

class BenchTest : public testing::Test {
protected:
    Layer measure(const Workload &layer_of, int rounds = 3) {
        Result<Layer> layer = measured(layer_of, rounds);
        EXPECT_TRUE(layer.ok()) << layer.error().message;
        return layer.ok() ? *layer : Layer();
    }
    Result<Layer> measured(const Workload &layer_of, int rounds = 3) {
        const auto copy = [this](int64_t bytes, int64_t) {
            copied.push_back(bytes);
            return copy_samples;
        };
        Bench bench(context, {shop.builder, shop.runner, copy, is_beside_copy}, rounds);
        if (Status s = bench.add(library.source("onednn")); !s) return s.error();
        Result<Layer> first = bench.measure(layer_of);
        if (again && first) return bench.measure(layer_of);
        return first;
    }

    FakeWorkshop shop;
    AlgorithmFilter algorithms;
    ChoiceContext context{.target = shop.target, .machine = shop.machine, .toolchain = "test 1", .algorithms = {}};
    FakeLibrary library;
    std::vector<int64_t> copied;
    std::vector<double> copy_samples = {100};
    std::function<bool(const Workload &)> is_beside_copy;
    bool again = false;
    const Workload workload = convolution({1, 14, 14, 16}, {3, 3, 16, 32});
};

TEST_F(BenchTest, WithoutATrialTheDefaultIsMeasuredOnce) {
    const Layer layer = measure(workload, 4);
    EXPECT_TRUE(layer.untuned);
    EXPECT_TRUE(layer.is_complete());
    EXPECT_EQ(shop.builder.candidates.size(), 1u);
    EXPECT_EQ(shop.runner.runs, 4u);
    EXPECT_EQ(layer.chosen->round_medians_ns.size(), 4u);
    EXPECT_EQ(layer.chosen->round_medians_ns, layer.standard->round_medians_ns);
    EXPECT_EQ(layer.chosen->candidate, shop.builder.candidates[0]);
    EXPECT_TRUE(copied.empty());
}

TEST_F(BenchTest, ATimeThatIsNotAsRecordedIsSaid) {
    const std::string quiet = R"({"memory_gb_s":{"l3":[70,70]}})", busy = R"({"memory_gb_s":{"l3":[21,21]}})";
    const struct {
        std::string then, now;
        double factor;
        const char *difference;
    } cases[] = {
        {quiet, quiet, 1.05, ""},
        {quiet, busy, 1.05, ""},
        {quiet, busy, 3,
         "1.0 us when it was recorded, 3.0 us now: the machine's memory is in another state (then L3 70.0 GB/s; now L3 "
         "21.0 GB/s)"},
        {"{}", "{}", 2, "1.0 us when it was recorded, 2.0 us now"},
    };
    for (const auto &c : cases) {
        FakeWorkshop tuned;
        tuned.runner.conditions = [&] { return c.then; };
        tuned.runner.time_ns = [](const std::string &) { return 1000; };
        TuneOptions options;
        options.trials = 1;
        ASSERT_TRUE(tuned.tune({{"net", "a", 1, workload}}, options).ok());
        context.store = &tuned.store;
        shop.runner.conditions = [&] { return c.now; };
        shop.runner.time_ns = [&](const std::string &) { return 1000 * c.factor; };
        EXPECT_EQ(measure(workload).difference, c.difference);
    }
}

TEST_F(BenchTest, TheTunedOneAndTheDefaultHaveAsManyTurns) {
    NamedWorkload named{"net", "a", 1, workload};
    TuneOptions options;
    options.trials = 12;
    options.strategy = "random";
    options.race_time_ns = 0;
    shop.runner.time_ns = [&](const std::string &hash) {
        return hash == "hash of " + shop.builder.candidates[0] ? 9000 : 500;
    };
    ASSERT_TRUE(shop.tune({named}, options).ok());
    context.store = &shop.store;
    shop.runner.runs = 0;
    const Layer layer = measure(workload);
    EXPECT_FALSE(layer.untuned);
    EXPECT_EQ(shop.runner.runs, 6u);
    EXPECT_EQ(layer.chosen->median_ns(), 500);
    EXPECT_EQ(layer.standard->median_ns(), 9000);
    EXPECT_NE(layer.chosen->candidate, layer.standard->candidate);
}

TEST_F(BenchTest, NetworksHaveTheirTurnsToo) {
    BenchedNetwork network{.chosen = {.files = {"500", ""}},
                           .standard = NetworkRunRequest{.files = {"900", ""}},
                           .about = "12 kernels",
                           .for_peers = {.model = "m.onnx"}};
    FakeNetworkRunner runner;
    Bench bench(context, {shop.builder, shop.runner, {}}, 4);
    ASSERT_TRUE(bench.add(library.source("onnxruntime")).ok());
    const Result<Layer> both = bench.measure(network, runner);
    ASSERT_TRUE(both.ok());
    EXPECT_EQ(runner.runs, 8);
    EXPECT_EQ(library.asked, 4);
    EXPECT_EQ(library.model, "m.onnx");
    EXPECT_EQ(both->chosen->median_ns(), 501);
    EXPECT_EQ(both->standard->median_ns(), 901);
    EXPECT_EQ(both->peers.at(0).timing->median_ns(), 4000);  // without the overhead
    network.standard.reset();
    EXPECT_EQ(bench.measure(network, runner)->standard->median_ns(), 501);
    runner.fails_at = runner.runs + 2;
    const Result<Layer> failed = bench.measure(network, runner);
    EXPECT_EQ(failed->problem, "crash: made to fail (12 kernels)");
    EXPECT_FALSE(failed->is_complete());
    EXPECT_TRUE(failed->peers.empty());
}

TEST_F(BenchTest, PeersTellWhatTheirNodesTake) {
    BenchedNetwork network{.chosen = {.files = {"500", ""}}, .for_peers = {.model = "m.onnx"}};
    FakeNetworkRunner runner;
    Bench bench(context, {shop.builder, shop.runner, {}}, 2);
    ASSERT_TRUE(bench.add(library.source("onnxruntime")).ok());
    EXPECT_TRUE(bench.measure(network, runner)->peers.at(0).profile.empty());
    EXPECT_EQ(library.profiled, 0);  // only where asked for
    network.profiles = true;
    const PeerProfile profile = bench.measure(network, runner)->peers.at(0).profile;
    ASSERT_EQ(profile.size(), 1u);
    EXPECT_EQ(profile[0].ns, 700);
    library.profile_error = lost();
    const Result<Layer> without = bench.measure(network, runner);
    ASSERT_TRUE(without.ok());
    EXPECT_TRUE(without->is_complete());  // its times stay
    EXPECT_TRUE(without->peers.at(0).profile.empty());
    EXPECT_EQ(without->peers.at(0).profile_problem, lost().message);
    EXPECT_EQ(library.starts, 1);
    library.profile_error = Error{ErrorCode::interrupted, "interrupted"};
    EXPECT_FALSE(bench.measure(network, runner).ok());
    EXPECT_EQ(library.starts, 2);  // it was lost
    library.layer = {.refusal = PeerLayer::Refusal::unsupported, .reason = "networks"};
    library.profiled = 0;
    EXPECT_TRUE(bench.measure(network, runner).ok());
    EXPECT_EQ(library.profiled, 0);
}

TEST_F(BenchTest, ABusyMomentIsNoFaultOfTheKernel) {
    shop.runner.refuses = [](size_t run) { return run % 3 ? std::optional(TrialStatus::unstable) : std::nullopt; };
    EXPECT_EQ(measure(workload).chosen->round_medians_ns.size(), 3u);
    EXPECT_EQ(shop.runner.runs, 9u);
    const auto &patience_ns = shop.runner.patience_ns;
    for (size_t run = 0; run < patience_ns.size(); run++) EXPECT_EQ(patience_ns[run] > 0, run % 3 > 0) << run;
    shop.runner.refuses = [](size_t) { return TrialStatus::unstable; };
    const Layer layer = measure(workload);
    EXPECT_FALSE(layer.chosen);
    EXPECT_TRUE(layer.problem.starts_with("unstable: made to fail (")) << layer.problem;
}

TEST_F(BenchTest, AKernelThatFailsIsSaidAndItsPeersAreLeftOut) {
    shop.runner.refuses = [](size_t run) { return run == 2 ? std::optional(TrialStatus::crash) : std::nullopt; };
    const Layer crashed = measure(workload);
    EXPECT_TRUE(crashed.problem.starts_with("crash: made to fail (direct") ||
                crashed.problem.starts_with("crash: made"))
        << crashed.problem;
    EXPECT_TRUE(crashed.peers.empty());
    EXPECT_FALSE(crashed.is_complete());
    shop.builder.refuses = [](size_t) { return TrialStatus::compile_error; };
    const int prepared = library.prepared;
    EXPECT_TRUE(measure(workload).problem.starts_with("compile_error: made to fail ("));
    EXPECT_EQ(library.prepared, prepared);
}

TEST_F(BenchTest, AnEmptyResultHasNothingToTime) {
    const Layer layer = measure(convolution({1, 2, 2, 4}, {5, 5, 4, 8}));
    EXPECT_FALSE(layer.chosen);
    EXPECT_TRUE(layer.is_complete());
    EXPECT_EQ(layer.problem, "the output is empty: there is nothing to compute");
    EXPECT_EQ(library.prepared, 0);
    EXPECT_EQ(shop.runner.runs, 0u);
}

TEST_F(BenchTest, AnEnvironmentThatFailsEndsIt) {
    shop.builder.fails_with = [](size_t) { return Error{ErrorCode::environment, "disk full"}; };
    const Result<Layer> layer = measured(workload);
    ASSERT_FALSE(layer.ok());
    EXPECT_EQ(layer.error().message, "disk full");
    library.start_error = Error{ErrorCode::environment, "no library"};
    EXPECT_EQ(measured(workload).error().message, "no library");
}

TEST_F(BenchTest, NoAlgorithmThatIsAllowedApplies) {
    context.algorithms.algorithm = "no_such_*";
    const Layer layer = measure(workload);
    EXPECT_NE(layer.problem.find("no_such_*"), std::string::npos) << layer.problem;
    EXPECT_EQ(shop.builder.candidates.size(), 0u);
}

TEST_F(BenchTest, PeersAreTimedWithoutTheirCall) {
    library.rounds = {PeerRound{{5000}, 1000}, PeerRound{{5500}, 500}, PeerRound{{9000}, 3000}};
    const Layer layer = measure(workload);
    ASSERT_EQ(layer.peers.size(), 1u);
    const PeerTiming &peer = layer.peers[0];
    EXPECT_EQ(peer.name, "onednn");
    EXPECT_EQ(peer.version, "9");
    EXPECT_EQ(peer.timing->round_medians_ns, (std::vector<double>{4000, 5000, 6000}));
    EXPECT_EQ(peer.timing->min_ns, 4000);
    EXPECT_EQ(peer.timing->candidate, "fast");
    EXPECT_EQ(peer.call_overhead_ns(), 1000);  // the median, not the mean
}

TEST_F(BenchTest, WhatAPeerCannotDo) {
    using Refusal = PeerLayer::Refusal;
    const struct {
        Refusal refusal;
        std::string problem;
        bool is_failure;
    } cases[] = {{Refusal::unsupported, "unsupported: why", false},
                 {Refusal::wrong_numbers, "computes wrong numbers, not timed: why", true},
                 {Refusal::failed, "failed: why", true}};
    for (const auto &c : cases) {
        library.layer = {.about = "", .refusal = c.refusal, .reason = "why"};
        library.asked = 0;
        const Layer layer = measure(workload);
        EXPECT_EQ(layer.peers[0].problem, c.problem);
        EXPECT_FALSE(layer.peers[0].timing);
        EXPECT_EQ(layer.is_complete(), !c.is_failure);
        EXPECT_TRUE(layer.chosen);
        EXPECT_EQ(library.asked, 0);
    }
}

TEST_F(BenchTest, AShortCallHasNoTimeAndIsNoFailure) {
    for (const double shortest : {900.0, 1010.0, 1490.0}) {
        library.asked = 0;
        library.rounds = {PeerRound{{5000}, 1000}, PeerRound{{5000, shortest}, 1000}};
        const Layer layer = measure(workload);
        EXPECT_EQ(layer.peers[0].problem, "too short to be told from its call (1.0 us)") << shortest;
        EXPECT_TRUE(layer.is_complete());
        EXPECT_EQ(library.asked, 2);
    }
}

TEST_F(BenchTest, APeerThatIsLostIsStartedAgainForTheNextLayer) {
    library.rounds = {library.usual, lost()};
    const Layer layer = measure(workload);
    EXPECT_EQ(layer.peers[0].problem, "fake: ended in the middle");
    EXPECT_TRUE(layer.peers[0].is_failure);
    EXPECT_FALSE(layer.peers[0].timing);
    EXPECT_EQ(library.starts, 1);

    library.rounds = {library.usual, lost()};
    again = true;
    EXPECT_TRUE(measure(workload).peers[0].timing);
    EXPECT_EQ(library.starts, 3);

    again = false;
    library.prepare_error = lost();
    EXPECT_TRUE(measure(workload).peers[0].is_failure);
    library.prepare_error = Error{ErrorCode::interrupted, "interrupted"};
    EXPECT_EQ(measured(workload).error().code, ErrorCode::interrupted);
    library.prepare_error.reset();
    library.rounds = {Result<PeerRound>(Error{ErrorCode::interrupted, "interrupted"})};
    EXPECT_EQ(measured(workload).error().code, ErrorCode::interrupted);
}

TEST_F(BenchTest, DataMovementIsBesideACopyOfAsManyBytes) {
    const Workload move = *parse_workload_key("space_to_depth/input:1x8x8x4/block:2x2");
    const Layer layer = measure(move);
    EXPECT_EQ(copied, std::vector<int64_t>(3, 8 * 8 * 4 * 4));
    EXPECT_EQ(layer.copy->round_medians_ns, std::vector<double>(3, 100));
    copy_samples.clear();
    EXPECT_FALSE(measure(move).copy);
}

TEST_F(BenchTest, LayersWhoseBytesDecideAreBesideACopyOfInputAndOutput) {
    is_beside_copy = [](const Workload &) { return true; };
    const Layer layer = measure(workload);
    EXPECT_EQ(copied, std::vector<int64_t>(3, (14 * 14 * 16 + 12 * 12 * 32) * 4 / 2));
    EXPECT_EQ(layer.copy->round_medians_ns, std::vector<double>(3, 100));
}

TEST(BytesDecide, WhereTheyTakeLongerThanOperationsAndLieBeyondL2) {
    const FmaPeak peak{.instructions = "", .gflops = 100};
    const std::vector<Bandwidth> bandwidths = {{"L2", 1 << 19, 100, 100}, {"DRAM", 1 << 28, 10, 10}};
    const std::string depthwise = "conv2d/input:1x128x128x144/kernel:3x3x1x144/feature_group_count:144";
    const struct {
        std::string key;
        int64_t l2_bytes;
        bool expected;
    } cases[] = {
        {depthwise, 1 << 20, true},
        {depthwise, 1 << 26, false},  // all of it lies in L2
        {"conv2d/input:1x128x128x144/kernel:3x3x144x144", 1 << 20, false},
        {"conv2d/input:1x8x8x16/kernel:3x3x1x16/feature_group_count:16", 1 << 20, false},
        {"space_to_depth/input:1x8x8x4/block:2x2", 1 << 20, true},
    };
    for (const auto &c : cases) {
        EXPECT_EQ(bytes_decide(*parse_workload_key(c.key), peak, bandwidths, c.l2_bytes), c.expected) << c.key;
    }
    EXPECT_FALSE(bytes_decide(*parse_workload_key(depthwise), peak, {}, 1 << 20));
}

}  // namespace
}  // namespace kiln
