// Targets of any bytes: a command line's or a database's.
#include "tests/fuzz/fuzz_input.h"
#include "workload/target.h"

using namespace kiln;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    constexpr const char *host = "x86-64-linux-avx-avx2-f16c-fma-sse41";
    FuzzInput input(data, size);
    const auto threads = input.take<int16_t>();
    const std::string text = input.rest();
    const Result<Target> target = parse_target(text, threads, host);
    if (!target) {
        KILN_FUZZ_EXPECT(!target.error().message.empty() && target.error().message.size() < 4096);
        return 0;
    }
    const Result<Target> again = parse_target(target->halide, target->threads, host);
    KILN_FUZZ_EXPECT(again && *again == *target);
    KILN_FUZZ_EXPECT(!architecture(*target).empty());
    KILN_FUZZ_EXPECT(missing_features(*target, target->halide).empty());
    KILN_FUZZ_EXPECT(missing_features(*target, host).size() <= text.size() + 64);
    KILN_FUZZ_EXPECT(vector_bytes(*target) >= 4 && vector_lanes(*target) >= 1 && vector_registers(*target) >= 1);
    return 0;
}
