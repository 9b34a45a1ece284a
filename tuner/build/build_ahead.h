// Builds one candidate while another one is measured, in a thread that waits for the builder's process. Where nothing
// may run beside measurements, it builds when the result is asked for.
#pragma once

#include <future>
#include <optional>

#include "tuner/build/builder.h"
#include "tuner/process/descriptor.h"

namespace kiln {

class BuildAhead {
public:
    // The builder outlives this object.
    BuildAhead(Builder &builder, bool ahead) : builder_(builder), ahead_(ahead) {}
    BuildAhead(const BuildAhead &) = delete;
    BuildAhead &operator=(const BuildAhead &) = delete;
    ~BuildAhead();  // ends a build that nobody asked for

    bool is_ahead() const { return ahead_; }
    // One at a time: precondition of start() is that none was started, or its result was taken.
    void start(BuildRequest request);
    Result<BuildResult> take();

private:
    Builder &builder_;
    bool ahead_;
    Descriptor cancelled_;  // an event; none where building ahead is off
    std::future<Result<BuildResult>> result_;
};

}  // namespace kiln
