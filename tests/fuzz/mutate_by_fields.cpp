// How libFuzzer changes inputs of targets that read protobuf.
#include <cstring>

#include "tests/fuzz/protobuf_mutator.h"

using namespace kiln;

// Half of the inputs are changed field by field, the others as libFuzzer changes bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) __attribute__((weak));

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    std::mt19937 random(seed);
    if (LLVMFuzzerMutate != nullptr && random() % 2 == 0) return LLVMFuzzerMutate(data, size, most);
    const std::string changed = mutated_message({reinterpret_cast<const char *>(data), size}, random);
    if (changed.size() > most) return size;
    std::memcpy(data, changed.data(), changed.size());
    return changed.size();
}
