// .npy files of any bytes: what is read has the bytes that its shape says, and is the same when it is written and read.
#include "check/npy.h"
#include "tests/fuzz/fuzz_input.h"

using namespace kiln;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const Result<NpyArray> array = parse_npy(FuzzInput(data, size).rest(), "fuzz.npy");
    if (!array) {
        KILN_FUZZ_EXPECT(array.error().message.starts_with("fuzz.npy: "));
        KILN_FUZZ_EXPECT(array.error().message.size() < 2000);
        return 0;
    }
    KILN_FUZZ_EXPECT(array->data.size() < size);
    const Result<NpyArray> again = parse_npy(npy_bytes(*array), "again.npy");
    KILN_FUZZ_EXPECT(again && *again == *array);
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::i8})
        (void)to_tensor(*array, dtype, "fuzz.npy");
    return 0;
}
