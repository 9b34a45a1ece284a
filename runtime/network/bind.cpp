// From weights to a network that can run: which variant the CPU gets, and whether the weights are those of this build.
#include "runtime/network/bound.h"
#include "runtime/network/network_call.h"

namespace kiln {
namespace {

kiln_status refuse(int32_t code, const char *detail) { return {code, KILN_NO_OPERAND, -1, detail}; }

const NetworkTable &table_of(const kiln_network *network) { return *static_cast<const NetworkTable *>(network->table); }

// The first that a CPU with these features runs; their number if there is none.
size_t choose(const kiln_network *network, uint64_t cpu_features) {
    const kiln_network_info &info = *network->info;
    size_t i = 0;
    while (i < info.variant_count && (info.variants[i].cpu_features & ~cpu_features) != 0) i++;
    return i;
}

// Bytes of sections are not looked at: that would take longer than loading may.
kiln_status check_weights(const NetworkTable &table, const void *weights, size_t bytes) {
    const WeightsHeader &expected = table.weights;
    WeightsHeader header;
    if (bytes < sizeof header) return refuse(KILN_BAD_WEIGHTS, "the weights are cut: shorter than their header");
    memcpy(&header, weights, sizeof header);
    if (memcmp(header.magic, expected.magic, sizeof header.magic) != 0) {
        return refuse(KILN_BAD_WEIGHTS, "these are no weights that kiln build wrote");
    }
    if (header.version != expected.version) {
        return refuse(KILN_BAD_WEIGHTS,
                      "the weights have another version of the format; build library and weights again");
    }
    if (memcmp(header.plan, expected.plan, sizeof header.plan) != 0) {
        return refuse(KILN_OTHER_WEIGHTS,
                      "weights of another build or of another network; use the file that was built with this library");
    }
    const size_t table_bytes = table.section_count * sizeof(WeightsSection);
    if (header.file_bytes != expected.file_bytes || header.section_count != expected.section_count) {
        return refuse(KILN_BAD_WEIGHTS, "the weights are damaged: their header is not the one that was built");
    }
    if (bytes < header.file_bytes)
        return refuse(KILN_BAD_WEIGHTS, "the weights are cut: shorter than their header says");
    if (bytes > header.file_bytes) {
        return refuse(KILN_BAD_WEIGHTS, "there are more bytes of weights than their header says");
    }
    const bool has_other_places =
        table_bytes > 0 && memcmp(static_cast<const char *>(weights) + sizeof header, table.sections, table_bytes) != 0;
    if (has_other_places || memcmp(header.reserved, expected.reserved, sizeof header.reserved) != 0) {
        return refuse(KILN_BAD_WEIGHTS,
                      "the weights are damaged: their table of sections is not the one that was built");
    }
    return refuse(KILN_OK, "ok");
}

}  // namespace

size_t network_workspace_bytes(const kiln_network *network, int threads, uint64_t cpu_features) {
    const size_t variant = choose(network, cpu_features);
    if (!is_valid_thread_count(threads) || variant == network->info->variant_count) return 0;
    return workspace_bytes(table_of(network).variants[variant], threads);
}

kiln_status bind_network(const kiln_network *network, const void *weights, size_t bytes, uint64_t cpu_features,
                         kiln_bound_network *bound) {
    if (bound == nullptr) return refuse(KILN_NULL_ARGUMENT, "bound is null");
    const size_t variant = choose(network, cpu_features);
    if (variant == network->info->variant_count) {
        return refuse(KILN_UNSUPPORTED_CPU,
                      "every variant of this network needs CPU features that are missing here; build the package for a "
                      "lower target too");
    }
    if (weights == nullptr) {
        weights = network->info->weights;
        bytes = network->info->weights_bytes;
        if (weights == nullptr) {
            return refuse(KILN_NULL_ARGUMENT,
                          "weights is null and the library holds none: give it NAME.weights, see kiln_map_weights");
        }
    }
    if (!is_aligned(weights, weights_alignment)) {
        return refuse(KILN_BAD_ALIGNMENT,
                      "the weights are not aligned to 64 bytes; kiln_map_weights answers memory that is");
    }
    const kiln_status status = check_weights(table_of(network), weights, bytes);
    if (status.code != KILN_OK) return status;
    const Bound filled = {network, variant, static_cast<const char *>(weights)};
    *bound = {};
    memcpy(bound->memory, &filled, sizeof filled);
    return status;
}

const kiln_network_variant *bound_variant(const kiln_bound_network *bound) {
    const Bound read = read_bound(bound);
    return &read.network->info->variants[read.variant];
}

}  // namespace kiln
