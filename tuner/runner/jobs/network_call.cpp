#include "tuner/runner/jobs/network_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/process/mapped_file.h"
#include "tuner/reference/comparison.h"

namespace kiln {
namespace {

// Cache lines apart, so that they do not all compete for the same sets of the L1 cache.
constexpr size_t scatter_bytes = 10 * 64;

BufferRequest request(const char *name, size_t bytes, NetworkMemoryPlace place, size_t index) {
    if (place == NetworkMemoryPlace::scattered) {
        return {name, bytes, 64, Placement::start_at_guard, index * scatter_bytes % 4096};
    }
    constexpr size_t element_alignment = 8;  // of the largest elements; what a program may rely on
    return {name, bytes, bytes % element_alignment == 0 ? element_alignment : 1, Placement::end_at_guard};
}

}  // namespace

Result<std::unique_ptr<NetworkCall>> NetworkCall::create(const kiln_network *network, int threads,
                                                         const std::vector<std::string> &inputs,
                                                         NetworkMemoryPlace place) {
    std::unique_ptr<NetworkCall> call(new NetworkCall(network));
    if (Status s = call->add_inputs(inputs, place); !s) return s.error();
    if (Status s = call->add_outputs(place); !s) return s.error();
    if (Status s = call->add_workspace(threads); !s) return s.error();
    if (threads > 1) {
        const kiln_status status = kiln_pool_create(network->package, threads, &call->pool_);
        if (status.code != KILN_OK) return environment_error(fmt::format("{} threads: {}", threads, status.detail));
        call->arguments_.parallel = &call->pool_;
    }
    call->arguments_.struct_size = sizeof call->arguments_;
    call->arguments_.inputs = call->input_pointers_.data();
    call->arguments_.outputs = call->output_pointers_.data();
    return call;
}

NetworkCall::~NetworkCall() {
    if (pool_.pool != nullptr) kiln_pool_destroy(network_->package, &pool_);
}

Status NetworkCall::add_inputs(const std::vector<std::string> &files, NetworkMemoryPlace place) {
    const kiln_network_info &info = *kiln_describe_network(network_);
    if (files.size() != info.input_count) {
        return environment_error(fmt::format("{} files for {} inputs", files.size(), info.input_count));
    }
    for (size_t i = 0; i < files.size(); i++) {
        const size_t bytes = info.inputs[i].bytes;
        auto memory = GuardedBuffer::allocate(request("an input", bytes, place, i));
        if (!memory) return memory.error();
        if (bytes > 0) {
            const auto file = MappedFile::open(files[i]);
            if (!file) return file.error();
            if (file->bytes().size() != bytes) {
                return environment_error(fmt::format("{}: has {} bytes where {} has {}", files[i], file->bytes().size(),
                                                     info.inputs[i].name, bytes));
            }
            std::ranges::copy(file->bytes(), memory->data().begin());
        }
        memory->set_read_only(true);
        input_pointers_.push_back(memory->data().data());
        inputs_.push_back(std::move(*memory));
    }
    return {};
}

Status NetworkCall::add_outputs(NetworkMemoryPlace place) {
    const kiln_network_info &info = *kiln_describe_network(network_);
    for (size_t i = 0; i < info.output_count; i++) {
        auto memory = GuardedBuffer::allocate(request("an output", info.outputs[i].bytes, place, info.input_count + i));
        if (!memory) return memory.error();
        output_pointers_.push_back(memory->data().data());
        outputs_.push_back(std::move(*memory));
    }
    return {};
}

Status NetworkCall::add_workspace(int threads) {
    const size_t bytes = kiln_network_workspace_bytes(network_, threads);
    auto memory = GuardedBuffer::allocate({"the workspace", bytes, 1, Placement::end_at_guard});
    if (!memory) return memory.error();
    arguments_.workspace = memory->data().data();
    arguments_.workspace_bytes = bytes;
    workspace_.push_back(std::move(*memory));
    return {};
}

void NetworkCall::poison_outputs() {
    for (const GuardedBuffer &output : outputs_) fill_with_poison(output.data());
}

void NetworkCall::fill_workspace(std::byte value) { std::ranges::fill(workspace_[0].data(), value); }

std::vector<std::span<const std::byte>> NetworkCall::activations() const {
    std::vector<std::span<const std::byte>> spans;
    for (const auto *buffers : {&inputs_, &outputs_, &workspace_}) {
        for (const GuardedBuffer &buffer : *buffers) spans.push_back(buffer.data());
    }
    return spans;
}

}  // namespace kiln
