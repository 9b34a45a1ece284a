#include "tuner/build/build_ahead.h"

#include <sys/eventfd.h>

#include <system_error>
#include <utility>

#include "tuner/process/started_child.h"

namespace kiln {

BuildAhead::~BuildAhead() {
    if (!result_.valid() || !cancelled_.valid()) return;
    eventfd_write(cancelled_.get(), 1);
    result_.wait();
}

void BuildAhead::start(BuildRequest request) {
    if (ahead_ && !cancelled_.valid()) cancelled_ = above_stdio(Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
    request.cancelled = cancelled_.get();
    const auto build = [this, r = std::move(request)] { return builder_.build(r); };
    try {
        result_ = std::async(ahead_ ? std::launch::async : std::launch::deferred, build);
    } catch (const std::system_error &) {  // no thread to be had under the limits of this user
        result_ = std::async(std::launch::deferred, build);
    }
}

Result<BuildResult> BuildAhead::take() { return result_.get(); }

}  // namespace kiln
