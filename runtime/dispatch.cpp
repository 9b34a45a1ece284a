#include "runtime/dispatch.h"

#include <string.h>

#include <atomic>

#include "runtime/cpu_features.h"
#include "runtime/descriptor.h"
#include "runtime/kernel_table.h"
#include "runtime/struct_size.h"

namespace kiln {
namespace {

kiln_status refuse(int32_t code, const char *detail) { return {code, KILN_NO_OPERAND, -1, detail}; }

const KernelTable &table_of(const kiln_package *package) { return *static_cast<const KernelTable *>(package->table); }

// The first position in [0, count) at which `before` is false; `before` holds for a prefix.
template<typename Before>
size_t lower_bound(size_t count, Before before) {
    size_t low = 0;
    while (count > 0) {
        const size_t half = count / 2;
        if (before(low + half)) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

// Finds the best row that a CPU with `features` runs among the rows of one workload, which begin at `first`.
kiln_status choose(const KernelTable &table, size_t first, uint64_t features, const kiln_kernel **kernel) {
    for (size_t i = first; i < table.row_count && (i == first || table.rows[i].info.place > 0); i++) {
        if ((table.rows[i].info.cpu_features & ~features) != 0) continue;
        *kernel = &table.rows[i].handle;
        return refuse(KILN_OK, "ok");
    }
    return refuse(KILN_UNSUPPORTED_CPU,
                  "every kernel of this workload needs CPU features that are missing here; build the package for a "
                  "lower target too");
}

constexpr size_t no_row = static_cast<size_t>(-1);

// The first row of the workload with just these bytes.
size_t row_of(const KernelTable &table, const kiln_descriptor &wanted) {
    const uint64_t hash = descriptor_hash(wanted);
    size_t i = lower_bound(table.index_count, [&](size_t at) { return table.index[at].hash < hash; });
    for (; i < table.index_count && table.index[i].hash == hash; i++) {
        const size_t row = table.index[i].row;
        if (memcmp(&table.rows[row].workload, &wanted, sizeof wanted) == 0) return row;
    }
    return no_row;
}

constexpr const char *not_found = "the package has no kernel for this workload";

// A constant of the machine, so threads that meet here store the same value.
uint64_t read_once(std::atomic<uint64_t> *cached, Tiles tiles) {
    constexpr uint64_t known = uint64_t(1) << 63;
    uint64_t features = cached->load(std::memory_order_relaxed);
    if (features == 0) {
        features = read_cpu_features(tiles) | known;
        cached->store(features, std::memory_order_relaxed);
    }
    return features & ~known;
}

}  // namespace

uint64_t enabled_cpu_features() {
    static std::atomic<uint64_t> cached{0};
    return read_once(&cached, Tiles::asked_for);
}

uint64_t enabled_cpu_features_without_tiles() {
    static std::atomic<uint64_t> cached{0};
    return read_once(&cached, Tiles::left_alone);
}

kiln_status find_kernel(const kiln_package *package, const kiln_descriptor *given, uint64_t features,
                        const kiln_kernel **kernel) {
    if (kernel != nullptr) *kernel = nullptr;
    if (given == nullptr || kernel == nullptr) return refuse(KILN_NULL_ARGUMENT, "descriptor or kernel is null");
    kiln_descriptor longer;
    const kiln_descriptor *descriptor = in_this_version(given, first_descriptor_bytes, &longer);
    if (descriptor == nullptr) return refuse(KILN_BAD_VERSION, descriptor_of_another_version);
    const KernelTable &table = table_of(package);
    // A descriptor that kiln_descriptor_init began is mostly normalized as it is.
    const bool is_hashable = descriptor->spatial_rank >= 1 && descriptor->spatial_rank <= KILN_MAX_SPATIAL_RANK;
    size_t row = is_hashable ? row_of(table, *descriptor) : no_row;
    if (row == no_row) {
        kiln_descriptor wanted;
        if (const char *problem = normalize(*descriptor, &wanted)) return refuse(KILN_BAD_DESCRIPTOR, problem);
        row = row_of(table, wanted);
    }
    return row == no_row ? refuse(KILN_NOT_FOUND, not_found) : choose(table, row, features, kernel);
}

kiln_status find_kernel_by_key(const kiln_package *package, const char *key, uint64_t features,
                               const kiln_kernel **kernel) {
    if (kernel != nullptr) *kernel = nullptr;
    if (key == nullptr || kernel == nullptr) return refuse(KILN_NULL_ARGUMENT, "key or kernel is null");
    const KernelTable &table = table_of(package);
    const size_t row =
        lower_bound(table.row_count, [&](size_t at) { return strcmp(table.rows[at].info.key, key) < 0; });
    if (row == table.row_count || strcmp(table.rows[row].info.key, key) != 0) return refuse(KILN_NOT_FOUND, not_found);
    return choose(table, row, features, kernel);
}

size_t kernel_count(const kiln_package *package) { return table_of(package).row_count; }

const kiln_kernel *kernel_at(const kiln_package *package, size_t index) {
    const KernelTable &table = table_of(package);
    return index < table.row_count ? &table.rows[index].handle : nullptr;
}

const kiln_kernel_info *kernel_info(const kiln_kernel *kernel) {
    return &reinterpret_cast<const KernelRow *>(kernel)->info;
}

}  // namespace kiln
