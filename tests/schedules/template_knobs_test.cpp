// Candidates as they are stored, read into each template's knobs: names, what may lack, and what is refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schedules/fold_knobs.h"
#include "schedules/spaces/cpu_tile_knobs.h"
#include "schedules/spaces/depthwise/channel_tile_knobs.h"
#include "schedules/spaces/depthwise/row_tile_knobs.h"
#include "schedules/spaces/depthwise/step_tile_knobs.h"
#include "schedules/spaces/gradient_tile_knobs.h"
#include "schedules/spaces/scalar/scalar_tile_knobs.h"
#include "schedules/spaces/scalar/shared_tile_knobs.h"
#include "schedules/spaces/transform_tile_knobs.h"
#include "schedules/spaces/winograd/winograd_knobs.h"

namespace kiln {
namespace {

// Knobs that were read and written again: those that the text lacks are 0 then.
template<typename TemplateKnobs>
Result<Knobs> again(const Knobs &knobs) {
    const auto decoded = decode_knobs<TemplateKnobs>(knobs);
    if (!decoded) return decoded.error();
    return encode_knobs(*decoded);
}

struct Case {
    std::string text;
    Result<Knobs> (*read)(const Knobs &);
    Knobs lacking;  // what the text has not, as it is read
    std::vector<std::string> needed;
};

const Knobs cpu_tile_lacks{{"inline_sum", 0},       {"join_columns", 0},  {"lanes", 0},        {"parallel", 0},
                           {"share_rows", 0},       {"skip_rows", 0},     {"spread", 0},       {"stage_input", 0},
                           {"unroll_columns", 0},   {"unroll_rows", 0},   {"unroll_tiles", 0}, {"prefetch", 0},
                           {"masked", 0},           {"fetch_weights", 0}, {"partition", 0},    {"depthwise_rows", 0},
                           {"depthwise_pixels", 0}, {"fetch_panels", 0},  {"turned", 0},       {"fetch_result", 0},
                           {"fetch_blocks", 0},     {"streams", 0}};
const std::vector<std::string> cpu_tile_needs{"panel_block", "pixels",  "row_block", "rows",
                                              "unroll",      "vectors", "x_block"};

std::vector<Case> cases() {
    std::vector<std::string> folded_needs{"block_d", "block_h", "block_w"};
    folded_needs.insert(folded_needs.end(), cpu_tile_needs.begin(), cpu_tile_needs.end());
    const std::string tile = "panel_block:2/pixels:7/row_block:4/rows:1/unroll:8/vectors:3/x_block:1";
    return {
        {"direct@1/cpu_tile@2/" + tile, again<CpuTileKnobs>, cpu_tile_lacks, cpu_tile_needs},
        {"space_to_depth_fused@1/cpu_tile@2/block_d:1/block_h:2/block_w:2/" + tile, again<FoldedKnobs<CpuTileKnobs>>,
         cpu_tile_lacks, folded_needs},
        {"kernel_gradient@1/gradient_tile@1/across:1/channels:4/columns:3/lanes:16/row_block:7/vectors:1",
         again<GradientTileKnobs>,
         {{"parallel", 0}, {"partials", 0}},
         {"across", "channels", "columns", "lanes", "row_block", "vectors"}},
        {"depthwise_rows@1/row_tile@1/channel_block:1/lanes:16/rows:4/vectors:2",
         again<RowTileKnobs>,
         {{"by_columns", 0}, {"by_rows", 0}, {"masked", 0}, {"parallel", 0}, {"slide", 0}, {"unroll_rows", 0}},
         {"channel_block", "lanes", "rows", "vectors"}},
        {"depthwise_turned@1/channel_tile@1/pixels:7/rows:2",
         again<ChannelTileKnobs>,
         {{"parallel", 0}},
         {"pixels", "rows"}},
        {"quantized_depthwise@1/step_tile@1/block:4/pixels:2/rows:4/share:2",
         again<StepTileKnobs>,
         {{"by_channels", 0}, {"in_lanes", 0}, {"in_tile", 0}, {"parallel", 0}, {"partition", 0}, {"row_block", 0}},
         {"block", "pixels", "rows", "share"}},
        {"scalar_dense@1/scalar_tile@1/channels:2/flags:1/pixels:6",
         again<ScalarTileKnobs>,
         {{"paired", 0}, {"partition", 0}, {"rows", 0}, {"tiles", 0}, {"unroll", 0}},
         {"channels", "flags", "pixels"}},
        {"shared_dense@1/shared_tile@1/channels:2/flags:1/pixels:6",
         again<SharedTileKnobs>,
         {{"rows", 0}},
         {"channels", "flags", "pixels"}},
        {"winograd_input_transform@1/transform_tile@1/channels_outer:0/lanes:0/parallel:1/stage:1/vectors:2",
         again<TransformTileKnobs>,
         {},
         {"channels_outer", "lanes", "parallel", "stage", "vectors"}},
        {"winograd_4@1/winograd@1/block_x:7/block_y:2/panel_block:2/stage_rows:0/tile_major:1/tiles_x:7/tiles_y:1/"
         "unroll:4/vectors:2",
         again<WinogradKnobs>,
         {{"demote", 0},
          {"fetch_weights", 0},
          {"parallel", 0},
          {"partition", 0},
          {"points", 0},
          {"prefetch", 0},
          {"images", 0},
          {"tile_images", 0},
          {"stage_input", 0},
          {"fetch_panels", 0}},
         {"block_x", "block_y", "panel_block", "stage_rows", "tile_major", "tiles_x", "tiles_y", "unroll", "vectors"}},
    };
}

TEST(TemplateKnobs, AreReadFromStoredTextsAndWritten) {
    for (const Case &row : cases()) {
        const auto candidate = parse_candidate(row.text);
        ASSERT_TRUE(candidate.ok()) << row.text;
        Knobs expected = row.lacking;
        expected.insert(candidate->knobs.begin(), candidate->knobs.end());
        const auto read = row.read(candidate->knobs);
        ASSERT_TRUE(read.ok()) << row.text << ": " << read.error().message;
        EXPECT_EQ(*read, expected) << row.text;
        // Every knob may also be there.
        Knobs full = expected;
        int64_t value = 100;
        for (auto &[name, to] : full) to = value++;
        EXPECT_EQ(*row.read(full), full) << row.text;
    }
}

TEST(TemplateKnobs, MissingAndUnknownOnesAreRefused) {
    for (const Case &row : cases()) {
        const Knobs knobs = parse_candidate(row.text)->knobs;
        std::vector<std::string> needed;
        for (const auto &[name, value] : knobs) {
            Knobs without = knobs;
            without.erase(name);
            const auto read = row.read(without);
            ASSERT_FALSE(read.ok()) << row.text << " without " << name;
            EXPECT_EQ(read.error().message, "knob `" + name + "` is missing");
            needed.push_back(name);
        }
        EXPECT_EQ(needed, row.needed) << row.text;
        Knobs more = knobs;
        more["vektors"] = 1;
        const auto read = row.read(more);
        ASSERT_FALSE(read.ok()) << row.text;
        EXPECT_EQ(read.error().message, "unknown knob `vektors`");
    }
}

TEST(TemplateKnobs, BlocksAreRefusedWhereNothingIsFolded) {
    Knobs knobs = parse_candidate(cases()[1].text)->knobs;
    EXPECT_FALSE(decode_knobs<CpuTileKnobs>(knobs).ok());
    EXPECT_EQ(decode_knobs<FoldedKnobs<CpuTileKnobs>>(knobs)->fold.blocks(), (Blocks{2, 2, 1}));
}

}  // namespace
}  // namespace kiln
