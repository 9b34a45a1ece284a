#include "schedules/spaces/scalar/shared_tile_space.h"

#include "schedules/spaces/scalar/shared_tile_knobs.h"

namespace kiln {
namespace {

Space made(Candidate base, const SharedTileKnobs &standard, const SharedTileDomains &domains) {
    std::vector<Knob> knobs = knob_list(domains);
    base.schedule = shared_tile_name;
    base.schedule_version = shared_tile_version;
    base.knobs = present(encode_knobs(standard), knobs);
    return Space(std::move(base), std::move(knobs), {});
}

// Each set of values is code of its own, and what counts is that layers share it. So channels are one number, the most that
// divides a layer's up to a usual one, and flags are those that won on the layers of person_detect.
constexpr int64_t usual_shared_flags = 4;

int64_t usual_channels(int64_t usual, const ConvLoops &loops) {
    while (loops.output_channels % usual != 0) usual /= 2;
    return usual;
}

}  // namespace

Space shared_depthwise_space(Candidate base, const ConvLoops &loops) {
    const int64_t of_input = loops.group_outputs();
    SharedTileKnobs k{.channels = usual_channels(8, loops), .pixels = 2, .rows = 2, .flags = usual_shared_flags};
    // A tile has all that is made of an input channel, or a part that fits in.
    while (k.channels % of_input != 0 && of_input % k.channels != 0) k.channels /= 2;
    return made(std::move(base), k,
                {.channels = {k.channels}, .pixels = {1, 2}, .rows = {1, 2}, .flags = {usual_shared_flags}});
}

Space shared_dense_space(Candidate base, const ConvLoops &loops) {
    const SharedTileKnobs k{.channels = usual_channels(2, loops), .pixels = 6, .flags = usual_shared_flags};
    return made(std::move(base), k,
                {.channels = {k.channels}, .pixels = {2, 4, 6}, .rows = {0}, .flags = {usual_shared_flags}});
}

}  // namespace kiln
