// Candidates of any bytes: the codec, and what the catalog says of one that came from a database. The first byte chooses
// the workload.
#include <iterator>

#include "catalog/catalog.h"
#include "schedules/candidate.h"
#include "tests/fuzz/fuzz_input.h"
#include "workload/core.h"
#include "workload/target.h"
#include "workload/workload.h"

using namespace kiln;

namespace {

constexpr const char *workloads[] = {
    "conv2d/input:1x14x14x32/kernel:3x3x32x64/padding:1,1x1,1/epilogue:bias,relu",
    "conv2d/input:1x32x32x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3",
    "conv2d/input:1x14x14x64/kernel:3x3x1x64/feature_group_count:64",
    "conv2d_backprop_input/input:2x9x9x16/kernel:3x3x16x24/strides:2x2",
    "conv2d_backprop_kernel/input:2x9x9x16/kernel:3x3x16x24",
    "layout_transform/input:1x28x28x64/from_layout:NCHW/to_layout:NCHW16c",
    "space_to_depth/input:1x32x32x3/block:2x2",
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FuzzInput input(data, size);
    const auto choice = input.take<uint8_t>();
    const std::string text = input.rest();
    const Result<Candidate> candidate = parse_candidate(text);
    if (!candidate) {
        KILN_FUZZ_EXPECT(!candidate.error().message.empty());
        return 0;
    }
    const Result<Candidate> again = parse_candidate(to_text(*candidate));
    KILN_FUZZ_EXPECT(again && *again == *candidate);
    const Result<Workload> workload = parse_workload_key(workloads[choice % std::size(workloads)]);
    KILN_FUZZ_EXPECT(workload.ok());
    const Target target{choice & 0x80 ? "x86-64-linux" : "x86-64-linux-avx-avx2-f16c-fma-sse41", 1 + (choice >> 6 & 1)};
    const Status buildable = check_candidate(*candidate, *workload, target);
    KILN_FUZZ_EXPECT(buildable || !buildable.error().message.empty());
    return 0;
}
