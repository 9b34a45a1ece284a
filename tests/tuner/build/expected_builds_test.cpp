#include "tuner/build/expected_builds.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <mutex>
#include <set>

namespace kiln {
namespace {

// Takes until it may end, or is cancelled.
class SlowBuilder : public Builder {
public:
    Result<BuildResult> build(const BuildRequest &request) override {
        begun++;
        while (!may_end) {
            pollfd cancelled{request.cancelled, POLLIN, 0};
            if (poll(&cancelled, 1, 1) > 0) {
                cancelled_builds++;
                return Error{ErrorCode::interrupted, "cancelled"};
            }
        }
        const std::lock_guard lock(mutex);
        built.push_back(request.candidate.algorithm);
        BuildResult result;
        result.outcome = Artifact{.code = ObjectFile{request.candidate.algorithm}};
        return result;
    }
    const std::string &toolchain() const override { return version_; }

    std::atomic<bool> may_end = false;
    std::atomic<int> begun = 0, cancelled_builds = 0;
    std::mutex mutex;
    std::vector<std::string> built;

private:
    std::string version_ = "test";
};

BuildRequest request(const std::string &algorithm) {
    BuildRequest r;
    r.candidate.algorithm = algorithm;
    r.candidate.schedule = "test";
    return r;
}

std::string path(const Result<BuildResult> &result) { return *object_path(result->value()); }

TEST(ExpectedBuilds, AreBuiltOnceWhoeverAsks) {
    SlowBuilder builder;
    ExpectedBuilds builds(builder, 2);
    for (const char *name : {"a", "b", "a", "c"}) builds.expect(request(name));
    while (builder.begun < 2) std::this_thread::yield();  // before anybody asked
    builder.may_end = true;
    for (const char *name : {"c", "a", "a", "b", "d"}) EXPECT_EQ(path(builds.build(request(name))), name);
    EXPECT_EQ(std::multiset<std::string>(builder.built.begin(), builder.built.end()),
              (std::multiset<std::string>{"a", "b", "c", "d"}));
}

TEST(ExpectedBuilds, WhatHasNotBegunDoesNotWait) {
    SlowBuilder builder;
    ExpectedBuilds builds(builder, 1);
    builds.expect(request("a"));
    while (builder.begun < 1) std::this_thread::yield();
    builds.expect(request("b"));
    std::thread asks([&] { EXPECT_EQ(path(builds.build(request("b"))), "b"); });
    while (builder.begun < 2) std::this_thread::yield();  // beside the thread's, which still builds a
    builder.may_end = true;
    asks.join();
}

TEST(ExpectedBuilds, WithoutThreadsBuildsWhenAsked) {
    SlowBuilder builder;
    ExpectedBuilds builds(builder, 0);
    builds.expect(request("a"));
    builder.may_end = true;
    EXPECT_EQ(path(builds.build(request("b"))), "b");
    EXPECT_EQ(path(builds.build(request("b"))), "b");
    EXPECT_EQ(builder.built, std::vector<std::string>{"b"});
    EXPECT_EQ(builds.toolchain(), "test");
}

TEST(ExpectedBuilds, EndsWhatNobodyAskedFor) {
    SlowBuilder builder;
    {
        ExpectedBuilds builds(builder, 1);
        builds.expect(request("a"));
        builds.expect(request("b"));
        while (builder.begun < 1) std::this_thread::yield();
    }
    EXPECT_EQ(builder.begun, 1);
    EXPECT_EQ(builder.cancelled_builds, 1);
}

}  // namespace
}  // namespace kiln
