// Looking kernels up by descriptors and keys of any bytes: features of a CPU, a descriptor, the rest a key.
#include "tests/fuzz/fuzz_input.h"
#include "tests/runtime/fake_package.h"

using namespace kiln;

namespace {

// `kernel` is what the call wrote: a reference, for it is read after the call.
void check_status(const kiln_status &status, const kiln_kernel *const &kernel) {
    KILN_FUZZ_EXPECT(status.detail != nullptr);
    KILN_FUZZ_EXPECT((status.code == KILN_OK) == (kernel != nullptr));
}

// Equal workloads are equal bytes: normalizing once more changes nothing.
void check_normalized(const kiln_descriptor &descriptor) {
    kiln_descriptor once, twice;
    if (normalize(descriptor, &once) != nullptr) return;
    KILN_FUZZ_EXPECT(normalize(once, &twice) == nullptr);
    KILN_FUZZ_EXPECT(std::memcmp(&once, &twice, sizeof once) == 0);
    KILN_FUZZ_EXPECT(descriptor_hash(once) == descriptor_hash(twice));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const FakePackage package;
    FuzzInput input(data, size);
    const auto features = input.take<uint64_t>();
    auto descriptor = input.take<kiln_descriptor>();
    const bool right_size = input.take<uint8_t>() != 0;  // else whatever the bytes say
    if (right_size) descriptor.struct_size = sizeof descriptor;
    check_normalized(descriptor);
    const kiln_kernel *kernel = nullptr;
    check_status(kiln_find(*package, &descriptor, &kernel), kernel);
    check_status(kiln_find_for(*package, &descriptor, features, &kernel), kernel);
    if (kernel != nullptr) {
        kiln_descriptor wanted;
        KILN_FUZZ_EXPECT(normalize(descriptor, &wanted) == nullptr);
        KILN_FUZZ_EXPECT(std::memcmp(&wanted, kiln_info(kernel)->workload, sizeof wanted) == 0);
        KILN_FUZZ_EXPECT((kiln_info(kernel)->cpu_features & ~features) == 0);
    }
    // What the fallback accepts is described whole; it is not run, for it may be as large as it likes.
    kiln_package any_sizes = **package;
    any_sizes.fallback = make_fallback;
    kiln_fallback memory;
    check_status(kiln_find_or_fallback(&any_sizes, &descriptor, &memory, &kernel), kernel);
    KILN_FUZZ_EXPECT(kernel == nullptr || kiln_workspace_bytes(kernel, 1) > 0);
    const std::string key = input.rest();
    check_status(kiln_find_key(*package, key.c_str(), &kernel), kernel);
    KILN_FUZZ_EXPECT(kernel == nullptr || std::strcmp(kiln_info(kernel)->key, key.c_str()) == 0);
    return 0;
}
