// A package with a hand-written table: kernels of a few lines in place of compiled ones.
//
// Each workload is a 1x1 convolution of one pixel with two channels, told apart by its batch. The kernels answer
// output = input + packed (or weights) [+ bias] [+ addend] [+ slope], so that a test sees which operands arrived.
#pragma once

#include <HalideRuntime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "runtime/cpu_features.h"
#include "runtime/descriptor.h"
#include "runtime/make_package.h"
#include "runtime/subnormals_as_zeros.h"

namespace kiln {

// A feature that no CPU has, and one that a test may mask.
inline constexpr uint64_t missing_feature = uint64_t(1) << 62;
inline constexpr uint64_t narrow_feature = cpu_features[0].bit, wide_feature = cpu_features[1].bit;

inline std::atomic<int> fake_calls{0};                  // of any kernel
inline std::atomic<int> fake_tasks_with_subnormals{0};  // tasks of the parallel one without a kernel's mode

// How the thread computes: 1 where it rounds to nearest, and more where it rounds up. fegetround() need not know.
inline float one_and_a_bit() {
    volatile const float one = 1, bit = 1e-9f;
    return one + bit;
}

inline float *fake_operand(void **argv, int i) {
    return reinterpret_cast<float *>(static_cast<halide_buffer_t *>(argv[i])->host);
}

inline int fake_compute(void **argv, int inputs) {
    fake_calls++;
    float *output = fake_operand(argv, inputs + 1);
    for (int c = 0; c < 2; c++) {
        output[c] = 0;
        for (int i = 1; i <= inputs; i++) output[c] += fake_operand(argv, i)[c];
    }
    return 0;
}

// As a kernel with a parallel loop: 8 tasks that each need scratch memory of their own.
inline int fake_parallel(void **argv) {
    fake_calls++;
    void *context = *static_cast<void **>(argv[0]);
    void *scratch = halide_malloc(context, 1000);
    const auto task = [](void *task_context, int index, uint8_t *closure) {
        auto *mine = static_cast<float *>(halide_malloc(task_context, 500));
        if (mine == nullptr) return -1;
        fake_tasks_with_subnormals += !SubnormalsAsZeros::is_mode_of_thread();
        *mine = 1;
        void **operands = reinterpret_cast<void **>(closure);
        if (index < 2) fake_operand(operands, 3)[index] = fake_operand(operands, 1)[index] + *mine;
        halide_free(task_context, mine);
        return 0;
    };
    const int code = halide_do_par_for(context, task, 0, 8, reinterpret_cast<uint8_t *>(argv));
    halide_free(context, scratch);
    return scratch == nullptr ? -1 : code;
}

inline int fake_pack(void **argv) {
    fake_calls++;
    for (int c = 0; c < 2; c++) fake_operand(argv, 2)[c] = 10 * fake_operand(argv, 1)[c];
    return 0;
}

enum FakeBatch {
    plain_batch = 1,
    packed_batch,
    full_batch,
    parallel_batch,
    dispatched_batch,
    foreign_batch,
    fails_batch
};

inline kiln_descriptor fake_descriptor(int64_t batch) {
    kiln_descriptor d;
    kiln_descriptor_init(&d, KILN_CONV, 2);
    d.batch = batch;
    d.spatial[0] = d.spatial[1] = d.kernel[0] = d.kernel[1] = 1;
    d.channels = d.output_channels = 2;
    return d;
}

inline std::string fake_key(int64_t batch) { return "conv2d/input:" + std::to_string(batch) + "x1x1x2/kernel:1x1x2x2"; }

class FakePackage {
public:
    FakePackage() {
        add(plain_batch, [](void **argv) { return fake_compute(argv, 2); });
        add(packed_batch, [](void **argv) { return fake_compute(argv, 2); });
        rows_.back().pack = fake_pack;
        rows_.back().info.packed_bytes = 2 * sizeof(float);
        add(full_batch, [](void **argv) { return fake_compute(argv, 5); });
        rows_.back().operands[KILN_BIAS] = rows_.back().operands[KILN_SLOPE] = {KILN_F32, 1, {2}};
        rows_.back().operands[KILN_ADDEND] = rows_.back().operands[KILN_OUTPUT];
        add(parallel_batch, fake_parallel);
        rows_.back().workspace_bytes = 64 + 1024;
        rows_.back().workspace_bytes_per_thread = 64 + 512;
        for (const auto &[target, features] :
             {std::pair{"wide", wide_feature | narrow_feature}, {"narrow", narrow_feature}, {"any", uint64_t(0)}}) {
            add(dispatched_batch, [](void **argv) { return fake_compute(argv, 2); });
            rows_.back().info.target = target;
            rows_.back().info.cpu_features = features;
        }
        add(foreign_batch, [](void **argv) { return fake_compute(argv, 2); });
        rows_.back().info.cpu_features = missing_feature;
        add(fails_batch, [](void **) { return -1; });
        for (KernelRow &row : rows_) {
            row.handle.package = &package_;
            row.info.workload = &row.workload;
            row.info.key = keys_[row.workload.batch].c_str();
        }
        for (size_t i = 0; i < rows_.size(); i++) {
            if (i > 0 && rows_[i - 1].workload.batch == rows_[i].workload.batch) {
                rows_[i].info.place = rows_[i - 1].info.place + 1;
                continue;
            }
            index_.push_back({descriptor_hash(rows_[i].workload), static_cast<uint32_t>(i)});
        }
        std::sort(index_.begin(), index_.end());
        table_ = {rows_.data(), rows_.size(), index_.data(), index_.size()};
        package_ = make_package({"fake", "none", "{}"}, &table_);
    }
    FakePackage(const FakePackage &) = delete;

    const kiln_package *operator*() const { return &package_; }

    const kiln_kernel *kernel(int64_t batch) const {
        for (const KernelRow &row : rows_) {
            if (row.workload.batch == batch) return &row.handle;
        }
        return nullptr;
    }

private:
    // In the order of the keys.
    void add(int64_t batch, ArgvFunction compute) {
        KernelRow row = {};
        keys_[batch] = fake_key(batch);
        row.info = {sizeof(kiln_kernel_info), "", "", "", "", "", "any", 0, 1, 0, 0, 64, 0, 0, nullptr, 0, 0, ""};
        normalize(fake_descriptor(batch), &row.workload);
        row.compute = compute;
        row.operands[KILN_INPUT] = {KILN_F32, 4, {batch, 1, 1, 2}};
        row.operands[KILN_WEIGHTS] = {KILN_F32, 4, {1, 1, 2, 2}};
        row.operands[KILN_OUTPUT] = {KILN_F32, 4, {batch, 1, 1, 2}};
        rows_.push_back(row);
    }

    std::array<std::string, 10> keys_;
    std::vector<KernelRow> rows_;
    std::vector<DescriptorIndex> index_;
    KernelTable table_;
    kiln_package package_;
};

}  // namespace kiln
