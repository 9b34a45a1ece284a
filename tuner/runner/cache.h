// The state of the caches before a call that is measured with cold weights.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kiln {

// Evicts the weights, as the call reads them, and brings everything else that it reads or writes into the caches.
void make_cold(std::span<const std::byte> weights, const std::vector<std::span<const std::byte>> &activations);

}  // namespace kiln
