// Workload lists of any bytes: what is read has keys that read back, and errors say where.
#include "tests/fuzz/fuzz_input.h"
#include "workload/lists/workload_list.h"

using namespace kiln;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const Result<std::vector<NamedWorkload>> list = parse_workload_list(FuzzInput(data, size).rest(), "fuzz.json");
    if (!list) {
        KILN_FUZZ_EXPECT(list.error().message.starts_with("fuzz.json: "));
        return 0;
    }
    for (const NamedWorkload &entry : *list) {
        KILN_FUZZ_EXPECT(!entry.name.empty() && entry.count >= 1);
        const Result<Workload> read_back = parse_workload_key(key(entry.workload));
        KILN_FUZZ_EXPECT(read_back && *read_back == entry.workload);
    }
    KILN_FUZZ_EXPECT(merge_equal(*list).size() <= list->size());
    return 0;
}
