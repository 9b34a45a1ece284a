#include "compare/peer_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>

#include "tests/build_paths.h"
#include "tuner/process/descriptor.h"

namespace kiln {
namespace {

PeerProgram fake(const std::string &behaviour) {
    return {.name = "fake",
            .arguments = {"/usr/bin/env", "python3", source_dir() + "/tests/compare/fake_peer.py", behaviour},
            .start_limit_ns = 20'000'000'000,
            .answer_limit_ns = behaviour.ends_with("hang") ? 300'000'000 : 20'000'000'000};
}

Workload layer() {
    Workload w = convolution({1, 8, 9, 4}, {3, 2, 2, 16});
    w.padding = {{1, 0}, {0, 2}};
    w.strides = {2, 1};
    w.rhs_dilation = {1, 3};
    w.feature_group_count = 2;
    w.epilogue = {{EpilogueStep::Kind::bias}, {EpilogueStep::Kind::relu}};
    return w;
}

TEST(PeerProcessTest, RightAnswers) {
    auto peer = PeerProcess::start(fake("right"));
    ASSERT_TRUE(peer.ok()) << peer.error().message;
    EXPECT_EQ(peer->name(), "fake");
    EXPECT_EQ(peer->version(), "1.2");
    for (int i = 0; i < 2; i++) {  // it lives on
        const auto prepared = peer->prepare(layer(), 1);
        ASSERT_TRUE(prepared.ok()) << prepared.error().message;
        EXPECT_EQ(prepared->refusal, PeerLayer::Refusal::none);
        // The fake says what it was asked.
        EXPECT_EQ(prepared->about,
                  R"({"do": "prepare", "threads": 1, "workload": {"batch_group_count": 1, "depthwise": [], )"
                  R"("dtype": "f32", )"
                  R"("epilogue": ["bias", "relu"], "feature_group_count": 2, "input": [1, 8, 9, 4], )"
                  R"("input_layout": "NHWC", "kernel": [3, 2, 2, 16], "kernel_dtype": "i8", )"
                  R"("kernel_layout": "HWIO", "kernel_zero_point": false, )"
                  R"("lhs_dilation": [1, 1], "op": "conv2d", "output_dtype": "f32", "output_layout": "NHWC", )"
                  R"("padding": [[1, 0], [0, 2]], "prologue": [], "rhs_dilation": [1, 3], "special_values": "finite", )"
                  R"("strides": [2, 1]}})");
        const auto round = peer->round(1000);
        ASSERT_TRUE(round.ok()) << round.error().message;
        EXPECT_EQ(round->samples_ns, (Samples{3000, 1000, 2000}));
        EXPECT_EQ(round->call_overhead_ns, 250.5);
    }
}

TEST(PeerProcessTest, Networks) {
    auto peer = PeerProcess::start(fake("right"));
    ASSERT_TRUE(peer.ok()) << peer.error().message;
    const auto prepared = peer->prepare(
        {.model = "m.onnx", .inputs = {{"x", "in.npy"}}, .outputs = {{"y/0", "a.npy"}, {"z", "b.npy"}}}, 2);
    ASSERT_TRUE(prepared.ok()) << prepared.error().message;
    EXPECT_EQ(prepared->about,
              R"({"do": "prepare_network", "inputs": [{"file": "in.npy", "name": "x"}], "model": "m.onnx", )"
              R"("outputs": [{"file": "a.npy", "name": "y/0"}, {"file": "b.npy", "name": "z"}], "threads": 2})");
    const auto profile = peer->profile();
    ASSERT_TRUE(profile.ok()) << profile.error().message;
    ASSERT_EQ(profile->size(), 2u);
    EXPECT_EQ((*profile)[0].names, (std::vector<std::string>{"n0", "n1"}));
    EXPECT_EQ((*profile)[0].ns, 1500);
    EXPECT_TRUE((*profile)[1].names.empty());
}

TEST(PeerProcessTest, Refusals) {
    using Refusal = PeerLayer::Refusal;
    const struct {
        const char *behaviour;
        Refusal refusal;
        const char *reason;
    } rows[] = {{"prepare_unsupported", Refusal::unsupported, "epilogue add"},
                {"prepare_wrong", Refusal::wrong_numbers, "output[0,0,0,0] is 1, not 2"},
                {"prepare_error", Refusal::failed, "no such device"}};
    for (const auto &row : rows) {
        SCOPED_TRACE(row.behaviour);
        auto peer = PeerProcess::start(fake(row.behaviour));
        ASSERT_TRUE(peer.ok()) << peer.error().message;
        const auto prepared = peer->prepare(layer(), 1);
        ASSERT_TRUE(prepared.ok()) << prepared.error().message;
        EXPECT_EQ(prepared->refusal, row.refusal);
        EXPECT_EQ(prepared->reason, row.reason);
    }
}

// Each ends in an environment error that names the peer, whichever call it happens in.
TEST(PeerProcessTest, WhateverItDoes) {
    const struct {
        const char *behaviour, *message;
    } rows[] = {
        {"start_garbage", "no JSON object: Segmentation fault?"},
        {"start_list", "no JSON object: [1, 2]"},
        {"start_other", "its greeting is"},
        {"start_error", "does not start: no such device"},
        {"start_exit", "ended with exit status 5; it said: out of luck"},
        {"start_crash", "ended with signal 11 (SIGSEGV)"},
        {"prepare_garbage", "no JSON object"},
        {"prepare_other", "its answer to prepare is"},
        {"prepare_exit", "ended with exit status 5; it said: out of luck"},
        {"prepare_crash", "ended with signal 11 (SIGSEGV)"},
        {"prepare_hang", "no answer within 0 s"},
        {"round_garbage", "no JSON object"},
        {"round_other", "its answer to round is"},
        {"round_error", "its answer to round is"},
        {"round_empty", "its answer to round is"},
        {"round_negative", "its answer to round is"},
        {"round_exit", "ended with exit status 5"},
        {"round_crash", "ended with signal 11 (SIGSEGV)"},
        {"round_hang", "no answer within 0 s"},
        {"round_flood", "answers without end"},
        {"profile_garbage", "no JSON object"},
        {"profile_other", "its answer to profile is"},
        {"profile_error", "its answer to profile is"},
        {"profile_nameless", "its answer to profile is"},
        {"profile_numbers", "its answer to profile is"},
        {"profile_timeless", "its answer to profile is"},
        {"profile_crash", "ended with signal 11 (SIGSEGV)"},
    };
    for (const auto &row : rows) {
        SCOPED_TRACE(row.behaviour);
        auto peer = PeerProcess::start(fake(row.behaviour));
        std::optional<Error> error;
        if (!peer) {
            error = peer.error();
        } else if (const auto prepared = peer->prepare(layer(), 1); !prepared) {
            error = prepared.error();
        } else if (const auto round = peer->round(1000); !round) {
            error = round.error();
        } else if (const auto profile = peer->profile(); !profile) {
            error = profile.error();
        }
        ASSERT_TRUE(error.has_value());
        EXPECT_EQ(error->code, ErrorCode::environment);
        EXPECT_TRUE(error->message.starts_with("peer fake: ")) << error->message;
        EXPECT_NE(error->message.find(row.message), std::string::npos) << error->message;
        if (peer) {  // and the process is gone
            const auto again = peer->round(1000);
            EXPECT_FALSE(again.ok());
        }
    }
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // no child is left
}

TEST(PeerProcessTest, WhatCannotBeStartedIsAnError) {
    const auto peer = PeerProcess::start({.name = "fake", .arguments = {"/nowhere/at-all"}});
    ASSERT_FALSE(peer.ok());
    EXPECT_EQ(peer.error().code, ErrorCode::environment);
    EXPECT_NE(peer.error().message.find("cannot be started"), std::string::npos);
}

TEST(PeerProcessTest, DiesWithItsParent) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const Descriptor read_end(ends[0]);
    Descriptor write_end(ends[1]);
    const pid_t parent = fork();
    ASSERT_GE(parent, 0);
    if (parent == 0) {
        // The child holds this process's pipe open, answers as a peer and waits.
        const std::string pipe_path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(write_end.get());
        const std::string script =
            "exec 3>" + pipe_path + R"(; echo '{"peer": "fake", "version": "1"}'; echo ready >&3; exec sleep 20)";
        const auto peer = PeerProcess::start({.name = "fake", .arguments = {"/bin/sh", "-c", script}});
        pause();
        _exit(peer.ok() ? 0 : 1);
    }
    write_end.reset();
    char text[32] = {};
    ASSERT_GT(read(read_end.get(), text, sizeof(text) - 1), 0);
    const auto start = std::chrono::steady_clock::now();
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);
    EXPECT_EQ(read(read_end.get(), text, sizeof(text)), 0);  // nobody holds it any more
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace kiln
