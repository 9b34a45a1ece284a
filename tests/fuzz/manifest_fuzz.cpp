// Files of any bytes where the manifest of a package should be.
#include "tests/fuzz/fuzz_input.h"
#include "tuner/manifest.h"

using namespace kiln;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string text = FuzzInput(data, size).rest();
    // Whatever is one names the format.
    if (is_manifest(text))
        KILN_FUZZ_EXPECT(text.find("package") != std::string::npos || text.find('\\') != std::string::npos);
    return 0;
}
