// The state of the caches before something is measured.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kiln {

// Evicts single lines from all caches, where the CPU can; else everything that the caches hold.
void evict(std::span<const std::byte> bytes);
bool can_evict_lines();

// Evicts the weights, as the call reads them, and brings everything else that it reads or writes into the caches.
void make_cold(std::span<const std::byte> weights, const std::vector<std::span<const std::byte>> &activations);

}  // namespace kiln
