// What a peer, a program of somebody else, may answer: a line of any bytes.
#include "compare/peer_answers.h"
#include "tests/fuzz/fuzz_input.h"

using namespace kiln;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string line = FuzzInput(data, size).rest();
    const Result<std::string> version = parse_peer_greeting(line, "onednn");
    KILN_FUZZ_EXPECT(version || !version.error().message.empty());
    const Result<PeerLayer> layer = parse_peer_layer(line);
    if (layer)
        KILN_FUZZ_EXPECT((layer->refusal == PeerLayer::Refusal::none) == layer->reason.empty() || layer->about.empty());
    const Result<PeerRound> round = parse_peer_round(line);
    if (!round) return 0;
    KILN_FUZZ_EXPECT(!round->samples_ns.empty() && round->call_overhead_ns >= 0);
    for (const double sample : round->samples_ns) KILN_FUZZ_EXPECT(sample >= 0);
    return 0;
}
