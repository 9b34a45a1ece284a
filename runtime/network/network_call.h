// The functions of a kiln_network.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/kiln.h"

namespace kiln {

size_t network_workspace_bytes(const kiln_network *, int threads, uint64_t cpu_features);
kiln_status map_weights(const char *path, kiln_weights *);
kiln_status load_weights(const char *path, kiln_weights *);
void unmap_weights(kiln_weights *);
kiln_status bind_network(const kiln_network *, const void *weights, size_t bytes, uint64_t cpu_features,
                         kiln_bound_network *);
const kiln_network_variant *bound_variant(const kiln_bound_network *);
kiln_status run_network(const kiln_bound_network *, const kiln_network_arguments *);

}  // namespace kiln
