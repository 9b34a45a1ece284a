// What the generator's process may print: text of any bytes.
#include "tests/fuzz/fuzz_input.h"
#include "tuner/build/generator_answer.h"

using namespace kiln;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const Result<KernelConstants> constants = parse_generator_answer(FuzzInput(data, size).rest());
    if (constants) {
        KILN_FUZZ_EXPECT(constants->packed_bytes >= 0 && constants->prepared_bytes >= 0);
    } else {
        KILN_FUZZ_EXPECT(constants.error().message.starts_with("kiln-generator answered something else"));
    }
    return 0;
}
