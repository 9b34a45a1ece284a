// Inputs that are a little wrong: a file of the corpus, changed in a few places. For compilers without libFuzzer, which
// does the same and looks which changes reach new code.
#pragma once

#include <cstdint>
#include <vector>

namespace kiln {

using Bytes = std::vector<uint8_t>;

// The input number `index` of a run with this seed: always the same. Precondition: a corpus that is not empty.
Bytes mutated(const std::vector<Bytes> &corpus, uint64_t seed, uint64_t index);

}  // namespace kiln
