// The arguments of a network's run in guarded memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/kiln.h"
#include "tuner/runner/guarded_buffer.h"
#include "workload/result.h"

namespace kiln {

// Where buffers lie: at guard pages, or as programs have them.
enum class NetworkMemoryPlace { end_at_guard, scattered };

class NetworkCall {
public:
    // Copies the inputs from their files; from then on they are read-only. Errors: a file cannot be read or has another size,
    // no memory, no threads.
    static Result<std::unique_ptr<NetworkCall>> create(const kiln_network *network, int threads,
                                                       const std::vector<std::string> &inputs,
                                                       NetworkMemoryPlace place);
    ~NetworkCall();

    void poison_outputs();
    void fill_workspace(std::byte value);
    // Heard of by later runs; outlives them.
    void observe(const kiln_observer *observer) { arguments_.observer = observer; }
    kiln_status run(const kiln_bound_network &bound) { return kiln_run_network(&bound, &arguments_); }

    std::span<const std::byte> output(size_t i) const { return outputs_[i].data(); }
    size_t output_count() const { return outputs_.size(); }
    size_t workspace_bytes() const { return arguments_.workspace_bytes; }
    std::vector<std::span<const std::byte>> activations() const;

private:
    explicit NetworkCall(const kiln_network *network) : network_(network) {}
    Status add_inputs(const std::vector<std::string> &files, NetworkMemoryPlace place);
    Status add_outputs(NetworkMemoryPlace place);
    Status add_workspace(int threads);

    const kiln_network *network_;
    std::vector<GuardedBuffer> inputs_, outputs_, workspace_;
    std::vector<const void *> input_pointers_;
    std::vector<void *> output_pointers_;
    kiln_parallel pool_ = {};
    kiln_network_arguments arguments_ = {};
};

}  // namespace kiln
