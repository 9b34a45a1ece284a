// Files of any bytes where the manifest of a package should be.
#include "package/manifest_reader.h"
#include "package/output/package_files.h"
#include "tests/fuzz/fuzz_input.h"

using namespace kiln;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string text = FuzzInput(data, size).rest();
    const Result<Manifest> manifest = parse_manifest(text, "fuzz.json");
    if (!manifest) {
        KILN_FUZZ_EXPECT(manifest.error().message.starts_with("fuzz.json: "));
        is_manifest(text);  // may be one of a later version
        return 0;
    }
    KILN_FUZZ_EXPECT(is_manifest(text));
    KILN_FUZZ_EXPECT(!manifest->kernels.empty());
    return 0;
}
