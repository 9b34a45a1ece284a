// Workload keys of any bytes, and what follows from a workload that one of them says: its canonical key, signature and
// descriptor.
#include "package/kernel_descriptor.h"
#include "runtime/descriptor.h"
#include "tests/fuzz/fuzz_input.h"
#include "workload/signature.h"

using namespace kiln;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string text = FuzzInput(data, size).rest();
    const Result<Workload> w = parse_workload_key(text);
    if (!w) {
        KILN_FUZZ_EXPECT(!w.error().message.empty());
        return 0;
    }
    KILN_FUZZ_EXPECT(validate(*w).ok());
    KILN_FUZZ_EXPECT(key(*w) == text);
    KILN_FUZZ_EXPECT(flop_count(*w) >= 0);
    const Signature tensors = signature(*w);
    for (const int64_t extent : tensors.result.shape()) KILN_FUZZ_EXPECT(extent >= 0);
    KILN_FUZZ_EXPECT(elements(tensors.result.shape()) >= 0);
    const Result<kiln_descriptor> descriptor = descriptor_of(*w);
    if (!descriptor) return 0;
    kiln_descriptor again;
    KILN_FUZZ_EXPECT(normalize(*descriptor, &again) == nullptr);
    KILN_FUZZ_EXPECT(std::memcmp(&*descriptor, &again, sizeof again) == 0);
    for (const OperandShape &operand : call_shapes(*w).operands) {
        KILN_FUZZ_EXPECT(operand.rank >= 0 && operand.rank <= KILN_MAX_RANK);
    }
    return 0;
}
