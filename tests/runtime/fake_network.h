// A network with a hand-written table over kernels of a few lines:
//   t = a + packed     y = 2 (t + plain) + plain     z = (b + 1, a + 10 b)
// with t in the workspace, t + plain written over t, 2 x what a kernel prepares, and 10 b what another packs in each run.
// It has a variant that no CPU runs, one that differs in a weight, and one for every CPU.
#pragma once

#include <cstring>
#include <vector>

#include "runtime/cpu_features.h"
#include "runtime/network/make_network.h"
#include "tests/runtime/fake_package.h"

namespace kiln {

struct FakeWeights {
    WeightsHeader header;
    WeightsSection sections[3];
    char to_the_next_line[64 - sizeof sections];
    alignas(64) float packed[16], plain[16], plain_of_wide[2];
};
static_assert(offsetof(FakeWeights, packed) == 128);

inline constexpr size_t fake_weights_bytes = offsetof(FakeWeights, plain_of_wide) + 8;

// Aligned, with the values that the arithmetic above is tested with.
inline FakeWeights fake_weights() {
    alignas(64) FakeWeights weights = {};
    memcpy(weights.header.magic, weights_magic, 8);
    weights.header.version = weights_version;
    weights.header.section_count = 3;
    weights.header.file_bytes = fake_weights_bytes;
    memcpy(weights.header.plan, "0123456789abcdef", 16);
    weights.sections[0] = {offsetof(FakeWeights, packed), 8};
    weights.sections[1] = {offsetof(FakeWeights, plain), 8};
    weights.sections[2] = {offsetof(FakeWeights, plain_of_wide), 8};
    for (int c = 0; c < 2; c++) {
        weights.packed[c] = 100 * float(c + 1);
        weights.plain[c] = 0.5f * float(c + 1);
        weights.plain_of_wide[c] = 0.25f * float(c + 1);
    }
    return weights;
}

class FakeNetwork {
public:
    FakeNetwork() : package_(*kernels_) {
        const KernelRow &plain = row(plain_batch), &packed = row(packed_batch), &parallel = row(parallel_batch);
        adds_ = prepared_ = plain;
        adds_.compute = [](void **argv) {
            for (int c = 0; c < 2; c++) fake_operand(argv, 3)[c] = fake_operand(argv, 1)[c] + fake_operand(argv, 2)[c];
            return 0;
        };
        prepared_.prepare = [](void **argv) {
            for (int c = 0; c < 2; c++) fake_operand(argv, 2)[c] = 2 * fake_operand(argv, 1)[c];
            return 0;
        };
        prepared_.info.prepared_bytes = 8;
        const NetworkPlace a = {NetworkPlace::input, 0, 0}, b = {NetworkPlace::input, 1, 0},
                           t = {NetworkPlace::workspace, 0, 0}, u = {NetworkPlace::workspace, 0, 64},
                           y = {NetworkPlace::output, 0, 0}, z0 = {NetworkPlace::output, 1, 0},
                           z1 = {NetworkPlace::output, 1, 8};
        for (uint64_t section : {offsetof(FakeWeights, plain_of_wide), offsetof(FakeWeights, plain)}) {
            const NetworkPlace weights = {NetworkPlace::weights, 0, section},
                               constant = {NetworkPlace::weights, 0, offsetof(FakeWeights, packed)};
            std::vector<NetworkPlace> &p = places_.emplace_back();
            p = {a, constant, t, t, weights, t, t, weights, y, b, weights, u, u, z0, a, b, z1};
            steps_.push_back({{&packed, &p[0], 2, 0, {}},
                              {&adds_, &p[3], 2, 0, {}},
                              {&prepared_, &p[6], 2, 0, {}},
                              {&parallel, &p[9], 2, 0, {}},
                              {nullptr, &p[12], 1, 0, {2, 4, 4, 4}},
                              {&packed, &p[14], 2, 2, {}}});
        }
        const auto variant = [&](size_t i) {
            return NetworkVariant{steps_[i].data(), steps_[i].size(), 128, 128, 64 + 1024, 64 + 512};
        };
        variants_[0] = variants_[1] = variant(0);
        variants_[2] = variant(1);
        const FakeWeights weights = fake_weights();
        memcpy(sections_, weights.sections, sizeof sections_);
        table_ = {variants_, sections_, 3, weights.header};
        info_ = {sizeof info_,       "fake", "30",   2, 2, inputs_, outputs_, 3, variant_infos_,
                 fake_weights_bytes, 64,     nullptr};
        network_ = make_network(*kernels_, &info_, &table_);
    }
    FakeNetwork(const FakeNetwork &) = delete;

    const kiln_network *operator*() const { return &network_; }
    void embed(const void *weights) { info_.weights = weights; }

private:
    const KernelRow &row(int64_t batch) const { return *reinterpret_cast<const KernelRow *>(kernels_.kernel(batch)); }

    const FakePackage kernels_;
    const kiln_package *package_;
    KernelRow adds_, prepared_;
    std::vector<std::vector<NetworkPlace>> places_;
    std::vector<std::vector<NetworkStep>> steps_;
    NetworkVariant variants_[3];
    WeightsSection sections_[3];
    NetworkTable table_;
    const int64_t shape_[2] = {1, 2}, long_shape_[1] = {4};
    const kiln_port inputs_[2] = {{"a", KILN_F32, 2, shape_, 8}, {"b", KILN_F32, 2, shape_, 8}};
    const kiln_port outputs_[2] = {{"y", KILN_F32, 2, shape_, 8}, {"z", KILN_F32, 1, long_shape_, 16}};
    const kiln_network_variant variant_infos_[3] = {
        {"other", missing_feature, 6}, {"wide", wide_feature | narrow_feature, 6}, {"any", 0, 6}};
    kiln_network_info info_;
    kiln_network network_;
};

}  // namespace kiln
