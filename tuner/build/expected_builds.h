// Builds ahead what a job will ask for, in threads that wait for the builder's processes, and keeps what was built: for jobs
// that know their kernels from the start. Who asks for a build that has begun waits for it; one that has not begun is built at
// once.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tuner/build/builder.h"
#include "tuner/process/descriptor.h"

namespace kiln {

// One core is left for what waits for the builds.
int building_threads();

class ExpectedBuilds : public Builder {
public:
    // The builder outlives this object. Without threads nothing is built ahead.
    ExpectedBuilds(Builder &builder, int threads);
    ExpectedBuilds(const ExpectedBuilds &) = delete;
    ExpectedBuilds &operator=(const ExpectedBuilds &) = delete;
    ~ExpectedBuilds() override;  // ends the builds that nobody asked for

    // In the order in which they will be asked for. One that is expected already is not built twice.
    void expect(BuildRequest request);

    Result<BuildResult> build(const BuildRequest &request) override;
    const std::string &toolchain() const override { return builder_.toolchain(); }

private:
    struct Build;
    void work();
    void run(Build &build, BuildRequest request);

    Builder &builder_;
    Descriptor cancelled_;  // an event
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, std::unique_ptr<Build>> builds_;  // by workload, target and candidate
    std::deque<Build *> waiting_;
    bool is_ending_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace kiln
