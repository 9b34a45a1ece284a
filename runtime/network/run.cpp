// A run checks every argument before it touches any memory; then the steps follow each other. Calls of kernels inside need
// no checks: their places were proved when the network was built, also those of results that lie where an operand does.
#include <HalideRuntime.h>

#include "runtime/network/bound.h"
#include "runtime/network/network_call.h"
#include "runtime/parallel_loop.h"
#include "runtime/struct_size.h"
#include "runtime/subnormals_as_zeros.h"

namespace kiln {
namespace {

constexpr kiln_status ok = {KILN_OK, KILN_NO_OPERAND, -1, "ok"};

constexpr size_t no_index = SIZE_MAX;

// A thread copies 64 KiB in some microseconds, in which others have just begun.
constexpr uint64_t least_shared_copy = 64 << 10;
constexpr int copies_of_a_thread = 8;

kiln_status refuse(int32_t code, int operand, size_t index, const char *detail) {
    const auto dimension = index <= INT16_MAX ? static_cast<int16_t>(index) : int16_t(-1);
    return {code, static_cast<int16_t>(operand), dimension, detail};
}

kiln_status refuse(int32_t code, const char *detail) { return {code, KILN_NO_OPERAND, -1, detail}; }

class Run {
public:
    Run(const Bound &bound, const kiln_network_arguments &arguments)
        : info_(*bound.network->info),
          variant_(bound.table().variants[bound.variant]),
          weights_(bound.weights),
          arguments_(arguments) {}

    kiln_status check() const;
    kiln_status run();

private:
    ByteRange input(size_t i) const { return {arguments_.inputs[i], info_.inputs[i].bytes}; }
    ByteRange output(size_t i) const { return {arguments_.outputs[i], info_.outputs[i].bytes}; }
    kiln_status check_ports() const;
    kiln_status check_output(size_t i, const ByteRange &workspace) const;
    char *at(const NetworkPlace &place) const;
    int copy(const NetworkStep &step) const;
    void copy_rows(const NetworkStep &step, uint64_t begin, uint64_t end) const;
    int call(const NetworkStep &step);
    int convert(ArgvFunction function, char *made, halide_buffer_t *operand);

    const kiln_network_info &info_;
    const NetworkVariant &variant_;
    const char *const weights_;
    const kiln_network_arguments &arguments_;
    char *workspace_ = nullptr, *scratch_ = nullptr;
    KernelContext context_;
    halide_buffer_t buffers_[most_tensors] = {};  // kernels read nothing but the host pointers
};

kiln_status Run::check_ports() const {
    if (arguments_.inputs == nullptr && info_.input_count > 0) return refuse(KILN_NULL_ARGUMENT, "inputs is null");
    if (arguments_.outputs == nullptr && info_.output_count > 0) return refuse(KILN_NULL_ARGUMENT, "outputs is null");
    const auto check_port = [](const ByteRange &range, const kiln_port &port, int operand, size_t i) {
        if (range.data == nullptr && range.bytes > 0) {
            return refuse(KILN_NULL_ARGUMENT, operand, i,
                          operand == KILN_INPUT ? "an input is null" : "an output is null");
        }
        if (is_aligned(range.data, element_bytes(port.dtype))) return ok;
        return refuse(KILN_BAD_ALIGNMENT, operand, i,
                      operand == KILN_INPUT ? "an input is not aligned to its elements"
                                            : "an output is not aligned to its elements");
    };
    for (size_t i = 0; i < info_.input_count; i++) {
        const kiln_status status = check_port(input(i), info_.inputs[i], KILN_INPUT, i);
        if (status.code != KILN_OK) return status;
    }
    for (size_t i = 0; i < info_.output_count; i++) {
        const kiln_status status = check_port(output(i), info_.outputs[i], KILN_OUTPUT, i);
        if (status.code != KILN_OK) return status;
    }
    return ok;
}

// What a run writes must share no memory with anything else that it knows.
kiln_status Run::check_output(size_t i, const ByteRange &workspace) const {
    const ByteRange written = output(i);
    for (size_t j = 0; j < info_.input_count; j++) {
        if (input(j).meets(written)) return refuse(KILN_OVERLAP, KILN_OUTPUT, i, "an output overlaps with an input");
    }
    for (size_t j = 0; j < i; j++) {
        if (output(j).meets(written)) return refuse(KILN_OVERLAP, KILN_OUTPUT, i, "two outputs overlap");
    }
    if (written.meets(workspace)) return refuse(KILN_OVERLAP, KILN_OUTPUT, i, "an output overlaps with the workspace");
    if (!written.meets({weights_, info_.weights_bytes})) return ok;
    return refuse(KILN_OVERLAP, KILN_OUTPUT, i, "an output overlaps with the weights");
}

kiln_status Run::check() const {
    if (!is_valid(arguments_.parallel)) {
        return refuse(KILN_BAD_THREADS, "parallel needs a function and 1 to 1024 threads");
    }
    if (arguments_.observer != nullptr && arguments_.observer->after_step == nullptr) {
        return refuse(KILN_NULL_ARGUMENT, "observer needs a function");
    }
    const size_t needed = workspace_bytes(variant_, thread_count(arguments_.parallel));
    if (arguments_.workspace == nullptr) {
        return refuse(KILN_NULL_ARGUMENT, KILN_WORKSPACE, no_index, "workspace is null");
    }
    if (arguments_.workspace_bytes < needed || needed == no_such_size) {
        return refuse(KILN_BUFFER_TOO_SMALL, KILN_WORKSPACE, no_index,
                      "workspace is smaller than kiln_network_workspace_bytes for this number of threads");
    }
    kiln_status status = check_ports();
    if (status.code != KILN_OK) return status;
    const ByteRange workspace = {arguments_.workspace, needed};
    for (size_t i = 0; i < info_.input_count; i++) {
        if (input(i).meets(workspace)) {
            return refuse(KILN_OVERLAP, KILN_INPUT, i, "an input overlaps with the workspace");
        }
    }
    if (workspace.meets({weights_, info_.weights_bytes})) {
        return refuse(KILN_OVERLAP, KILN_WORKSPACE, no_index, "the workspace overlaps with the weights");
    }
    for (size_t i = 0; i < info_.output_count && status.code == KILN_OK; i++) status = check_output(i, workspace);
    return status;
}

// Kernels take what they read without const.
char *Run::at(const NetworkPlace &place) const {
    switch (place.memory) {
        case NetworkPlace::input:
            return static_cast<char *>(const_cast<void *>(arguments_.inputs[place.index])) + place.offset;
        case NetworkPlace::output:
            return static_cast<char *>(arguments_.outputs[place.index]) + place.offset;
        case NetworkPlace::weights:
            return const_cast<char *>(weights_) + place.offset;
        case NetworkPlace::workspace:
            break;
    }
    return workspace_ + place.offset;
}

void Run::copy_rows(const NetworkStep &step, uint64_t begin, uint64_t end) const {
    const NetworkCopy &copy = step.copy;
    const char *from = at(step.places[0]);
    char *to = at(step.places[1]);
    for (uint64_t row = begin; row < end; row++) {
        memcpy(to + row * copy.to_pitch, from + row * copy.from_pitch, copy.row_bytes);
    }
}

// Threads share rows as they share those of kernels, so that each finds its own in its caches.
int Run::copy(const NetworkStep &step) const {
    const NetworkCopy &copy = step.copy;
    const auto most = static_cast<uint64_t>(context_.parallel.threads) * copies_of_a_thread;
    const auto tasks = static_cast<int>(copy.rows < most ? copy.rows : most);
    if (context_.parallel.threads == 1 || copy.rows * copy.row_bytes < least_shared_copy || tasks < 2) {
        copy_rows(step, 0, copy.rows);
        return 0;
    }
    struct Task {
        const Run &run;
        const NetworkStep &step;
        uint64_t tasks;
    } task{*this, step, static_cast<uint64_t>(tasks)};
    const auto copy_part = [](void *, int index, uint8_t *closure) {
        const Task &t = *reinterpret_cast<const Task *>(closure);
        const uint64_t rows = t.step.copy.rows, i = static_cast<uint64_t>(index);
        t.run.copy_rows(t.step, rows * i / t.tasks, rows * (i + 1) / t.tasks);
        return 0;
    };
    return run_parallel(context_, copy_part, 0, tasks, reinterpret_cast<uint8_t *>(&task));
}

// pack and prepare: one operand, and its other form in the scratch memory, which takes its place.
int Run::convert(ArgvFunction function, char *made, halide_buffer_t *operand) {
    halide_buffer_t result = {};
    result.host = reinterpret_cast<uint8_t *>(made);
    KernelContext *user_context = &context_;
    void *argv[] = {&user_context, operand, &result};
    const int error = function(argv);
    operand->host = result.host;
    return error;
}

int Run::call(const NetworkStep &step) {
    const KernelRow &row = *step.row;
    KernelContext *user_context = &context_;
    void *argv[1 + most_tensors] = {&user_context};
    for (uint32_t i = 0; i <= step.operands; i++) {
        buffers_[i].host = reinterpret_cast<uint8_t *>(at(step.places[i]));
        argv[1 + i] = &buffers_[i];
    }
    if (row.prepare != nullptr) {
        if (const int error = convert(row.prepare, scratch_, &buffers_[0])) return error;
    }
    if (step.packs > 0) {
        char *packed = scratch_ + align_up(row.info.prepared_bytes);
        if (const int error = convert(row.pack, packed, &buffers_[step.packs - 1])) return error;
    }
    return row.compute(argv);
}

kiln_status Run::run() {
    SubnormalsAsZeros mode;
    workspace_ = make_arena(arguments_.workspace, arguments_.workspace_bytes).base;
    scratch_ = workspace_ + variant_.plan_bytes;
    context_ = make_contexts(scratch_ + variant_.scratch_bytes, arena_sizes(variant_), arguments_.parallel);
    for (size_t i = 0; i < variant_.step_count; i++) {
        const NetworkStep &step = variant_.steps[i];
        if ((step.row == nullptr ? copy(step) : call(step)) != 0) {
            return refuse(KILN_KERNEL_FAILED, "a kernel reported an error; the outputs are undefined");
        }
        if (arguments_.observer == nullptr) continue;
        mode.leave();
        arguments_.observer->after_step(arguments_.observer->context, i);
        mode.enter();
    }
    return ok;
}

}  // namespace

kiln_status run_network(const kiln_bound_network *bound, const kiln_network_arguments *given) {
    if (given == nullptr) return refuse(KILN_NULL_ARGUMENT, "arguments is null");
    kiln_network_arguments longer;
    const kiln_network_arguments *arguments = in_this_version(given, first_network_arguments_bytes, &longer);
    if (arguments == nullptr) {
        return refuse(KILN_BAD_VERSION,
                      "struct_size is none that this package knows; use kiln_network_arguments_init and its headers");
    }
    const Bound read = read_bound(bound);
    if ((bound_variant(bound)->cpu_features & ~read.network->package->cpu_features()) != 0) {
        return refuse(KILN_UNSUPPORTED_CPU, "this CPU lacks features that the network's variant needs");
    }
    Run run(read, *arguments);
    const kiln_status status = run.check();
    return status.code == KILN_OK ? run.run() : status;
}

}  // namespace kiln
