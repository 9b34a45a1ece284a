#include "tuner/build/expected_builds.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "tuner/process/started_child.h"

namespace kiln {
namespace {

std::string name_of(const BuildRequest &request) {
    return key(request.workload) + " " + to_text(request.target) + " " + to_text(request.candidate);
}

}  // namespace

int building_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1); }

struct ExpectedBuilds::Build {
    BuildRequest request;
    bool has_begun = false;
    std::optional<Result<BuildResult>> result;
};

ExpectedBuilds::ExpectedBuilds(Builder &builder, int threads)
    : builder_(builder), cancelled_(above_stdio(Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)))) {
    for (int i = 0; i < threads; i++) {
        try {
            threads_.emplace_back([this] { work(); });
        } catch (const std::system_error &) {  // no thread to be had under the limits of this user
            break;
        }
    }
}

ExpectedBuilds::~ExpectedBuilds() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    if (cancelled_.valid()) eventfd_write(cancelled_.get(), 1);
    changed_.notify_all();
    for (std::thread &thread : threads_) thread.join();
}

void ExpectedBuilds::expect(BuildRequest request) {
    if (threads_.empty()) return;
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = builds_.try_emplace(name_of(request));
    if (!is_new) return;
    request.cancelled = cancelled_.get();
    found->second = std::make_unique<Build>(Build{.request = std::move(request), .result = {}});
    waiting_.push_back(found->second.get());
    changed_.notify_all();
}

void ExpectedBuilds::run(Build &build, BuildRequest request) {
    Result<BuildResult> result = builder_.build(request);
    const std::lock_guard lock(mutex_);
    build.result = std::move(result);
    changed_.notify_all();
}

void ExpectedBuilds::work() {
    while (true) {
        Build *next = nullptr;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return is_ending_ || !waiting_.empty(); });
            if (is_ending_) return;
            next = waiting_.front();
            waiting_.pop_front();
            if (std::exchange(next->has_begun, true)) continue;  // somebody could not wait
        }
        run(*next, next->request);
    }
}

Result<BuildResult> ExpectedBuilds::build(const BuildRequest &request) {
    Build *build = nullptr;
    bool is_ours = false;
    {
        const std::lock_guard lock(mutex_);
        std::unique_ptr<Build> &found = builds_[name_of(request)];
        if (!found) found = std::make_unique<Build>(Build{.request = request, .result = {}});
        build = found.get();
        is_ours = !std::exchange(build->has_begun, true);
    }
    if (is_ours) run(*build, request);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return build->result.has_value(); });
    return *build->result;
}

}  // namespace kiln
