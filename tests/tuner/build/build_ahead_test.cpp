#include "tuner/build/build_ahead.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <thread>

namespace kiln {
namespace {

// Takes until it is told to end, or is cancelled.
class SlowBuilder : public Builder {
public:
    Result<BuildResult> build(const BuildRequest &request) override {
        thread = std::this_thread::get_id();
        began = true;
        while (!may_end) {
            pollfd cancelled{request.cancelled, POLLIN, 0};
            if (poll(&cancelled, 1, 1) > 0) {
                was_cancelled = true;
                return Error{ErrorCode::interrupted, "cancelled"};
            }
        }
        BuildResult result;
        result.outcome = Artifact{.code = ObjectFile{to_text(request.candidate)}};
        return result;
    }
    const std::string &toolchain() const override { return version_; }

    std::atomic<bool> may_end = false, began = false, was_cancelled = false;
    std::thread::id thread;

private:
    std::string version_ = "test";
};

BuildRequest request(const std::string &algorithm) {
    BuildRequest r;
    r.candidate.algorithm = algorithm;
    r.candidate.schedule = "test";
    return r;
}

TEST(BuildAhead, BuildsWhileNobodyWaits) {
    SlowBuilder builder;
    BuildAhead builds(builder, true);
    builds.start(request("a"));
    while (!builder.began) std::this_thread::yield();  // here a measurement would run
    builder.may_end = true;
    const Result<BuildResult> built = builds.take();
    ASSERT_TRUE(built.ok());
    EXPECT_EQ(*object_path(built->value()), "a@1/test@1");
    EXPECT_NE(builder.thread, std::this_thread::get_id());
    builds.start(request("b"));
    EXPECT_EQ(*object_path(builds.take()->value()), "b@1/test@1");
}

TEST(BuildAhead, WhereItIsOffBuildsWhenAsked) {
    SlowBuilder builder;
    BuildAhead builds(builder, false);
    builds.start(request("a"));
    EXPECT_FALSE(builder.began);
    builder.may_end = true;
    EXPECT_TRUE(builds.take().ok());
    EXPECT_EQ(builder.thread, std::this_thread::get_id());
    builds.start(request("b"));  // never asked for: never built
}

TEST(BuildAhead, EndsABuildThatNobodyAskedFor) {
    SlowBuilder builder;
    {
        BuildAhead builds(builder, true);
        builds.start(request("a"));
        while (!builder.began) std::this_thread::yield();
    }
    EXPECT_TRUE(builder.was_cancelled);
}

}  // namespace
}  // namespace kiln
