#include "tuner/runner/jobs/pack_job.h"

#include <HalideRuntime.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "runtime/subnormals_as_zeros.h"
#include "tuner/process/mapped_file.h"
#include "tuner/runner/guarded_buffer.h"
#include "tuner/runner/kernel.h"

namespace kiln {
namespace {

// Calls the function on guarded copies. Answers its code, 0 for success.
Result<int> call_pack(const PackJob &job, const LoadedKernel &kernel, std::span<const std::byte> weights,
                      GuardedBuffer *packed) {
    auto source = GuardedBuffer::allocate({"the weights", weights.size(), 64, Placement::end_at_guard});
    if (!source) return source.error();
    std::ranges::copy(weights, source->data().begin());
    source->set_read_only(true);
    const size_t limit = size_t(job.call.memory_limit_bytes);
    auto context = CallContext::create(1, {limit / 2, limit / 4});
    if (!context) return context.error();
    halide_buffer_t from = {}, to = {};  // kernels read nothing but the host pointers
    from.host = reinterpret_cast<uint8_t *>(source->data().data());
    to.host = reinterpret_cast<uint8_t *>(packed->data().data());
    KernelContext *user_context = &(*context)->context();
    void *arguments[] = {&user_context, &from, &to};
    const SubnormalsAsZeros mode;
    return kernel.pack()(arguments);
}

}  // namespace

RunnerAnswer run_pack_job(const PackJob &job, const SendLine &send) {
    send(step_line("loading"));
    const auto kernel = LoadedKernel::load(job.kernel.shared_object);
    if (!kernel) return failed(TrialStatus::compile_error, kernel.error().message);
    if (kernel->pack() == nullptr)
        return failed(TrialStatus::compile_error, "the kernel has no function that packs weights");
    const auto weights = MappedFile::open(job.weights);
    if (!weights) return environment_failed(weights.error());
    // New memory is zero, and what the kernel leaves out stays so.
    auto packed =
        GuardedBuffer::allocate({"the packed weights", size_t(job.kernel.packed_bytes), 64, Placement::end_at_guard});
    if (!packed) return environment_failed(packed.error());
    send(step_line("packing"));
    const Result<int> code = call_pack(job, *kernel, weights->bytes(), &*packed);
    if (!code) return environment_failed(code.error());
    if (*code != 0)
        return failed(TrialStatus::crash, fmt::format("the kernel's pack function returned the error code {}", *code));
    std::ofstream file(job.packed, std::ios::binary);
    const auto bytes = packed->data();
    file.write(reinterpret_cast<const char *>(bytes.data()), std::streamsize(bytes.size()));
    if (!file.flush()) return environment_failed(environment_error(job.packed + ": cannot be written"));
    return failed(TrialStatus::ok, "");
}

}  // namespace kiln
