#include "schedules/spaces/winograd/winograd_space.h"

#include <algorithm>
#include <set>

#include "schedules/spaces/fetched_weights.h"
#include "schedules/spaces/winograd/winograd_default.h"
#include "schedules/spaces/winograd/winograd_rules.h"
#include "workload/division.h"

namespace kiln {
namespace {

constexpr double least_fetched_image = 1 << 20;  // bytes; a smaller one stays in a cache

// Even shares of `count`, too.
std::vector<int64_t> blocks_and_shares(int64_t count) {
    const std::vector<int64_t> blocks = block_sizes(count);
    std::set<int64_t> sizes(blocks.begin(), blocks.end());
    for (int64_t shares = 2; shares <= 4; shares++) sizes.insert(ceil_div(count, shares));
    return {sizes.begin(), sizes.end()};
}

// Nothing but 0 where an image makes blocks of its own, or there is one.
std::vector<int64_t> images_of_blocks(const WinogradFacts &f) {
    std::vector<int64_t> sizes{0};
    if (!shares_blocks(f)) return sizes;
    for (int64_t images : block_sizes(f.shape.batch)) {
        if (images > 1 && f.shape.batch % images == 0) sizes.push_back(images);
    }
    return sizes;
}

WinogradDomains domains(const WinogradFacts &f, const WinogradTransform &transform) {
    WinogradDomains d;  // what does not apply stays 0
    d.points.clear();
    for (int64_t p = 0; p < transform.point_choices; p++) d.points.push_back(p);
    const RegisterTileLimits most = most_of_register_tile(f);
    d.vectors = up_to(most.vectors), d.tiles_x = up_to(most.tiles_x), d.tiles_y = up_to(most.tiles_y);
    d.block_x = blocks_and_shares(f.tiles[0]);
    d.block_y = blocks_and_shares(f.tiles[1]);
    d.images = images_of_blocks(f);
    for (int64_t images = 2; images <= std::min(most.images, d.images.back()); images++)
        d.tile_images.push_back(images);
    d.panel_block = blocks_and_shares(f.output_vectors());
    d.tile_major = d.stage_rows = {0, 1};
    d.unroll.clear();
    for (int64_t u : {1, 2, 4, 8}) {
        if (f.channel_step() / f.parts % u == 0) d.unroll.push_back(u);
    }
    if (transform.may_demote) d.demote = {0, 1, 2};
    if (f.lanes > 1 && f.weight_bytes() >= least_fetched_weights)
        d.fetch_weights = fetched_kilobytes, d.fetch_panels = {0, 1};
    const bool has_lines = f.lanes > 1 && f.parts == 1 && f.input_step() + f.result_step() > 0;
    if (has_lines && f.image_bytes() >= least_fetched_image) d.prefetch = {0, 1, 2};
    if (!f.shape.folds()) d.partition = {0, 1};
    if (f.may_stage_input()) d.stage_input = {0, 1};
    if (f.threads > 1) d.parallel = {1, 2, 3};
    return d;
}

std::vector<Limit<WinogradKnobs>> limits(const WinogradFacts &f) {
    using K = WinogradKnobs;
    const int64_t workspace = winograd_workspace_limit(f);
    return {
        {"the register tile needs more vector registers than the target has",
         [=](const K &k) { return winograd_fits_registers(f, k); }},
        {"a panel has outputs of several groups", [=](const K &k) { return f.panels_fill_groups(k.vectors); }},
        {"register tiles are larger than the block",
         [](const K &k) { return k.tiles_x <= k.block_x && k.tiles_y <= k.block_y; }},
        {"a block of several images has all of their tiles",
         [=](const K &k) { return !k.images || (k.block_x == f.tiles[0] && k.block_y == f.tiles[1]); }},
        {"images of a block lie side by side, so all channels of a tile do not",
         [](const K &k) { return !k.images || !k.tile_major; }},
        {"register tiles have more images than the block", [](const K &k) { return k.tile_images <= k.images; }},
        {"register tiles overlap too much in their block",
         [](const K &k) { return winograd_waste(k) <= most_winograd_waste; }},
        {"panel_block has more panels than there are",
         [=](const K &k) { return k.panel_block <= ceil_div(f.output_vectors(), k.vectors); }},
        {"stage_rows needs several blocks a row, which one thread computes",
         [=](const K &k) { return !k.stage_rows || (k.block_x < f.tiles[0] && k.parallel != 3); }},
        {"stage_input copies whole rows, which no thread has alone",
         [](const K &k) { return !k.stage_input || k.parallel != 3; }},
        {"weights are fetched by kilobytes or by panels",
         [](const K &k) { return !k.fetch_weights || !k.fetch_panels; }},
        {"a panel that one register tile of a block reads, or blocks that are not whole, is not fetched by several",
         [=](const K &k) { return !k.fetch_panels || shares_winograd_panels(f, k); }},
        {"some threads would be without work", [=](const K &k) { return winograd_gives_all_threads_work(f, k); }},
        {"copied and transformed input and products of a block need more than 16 MiB",
         [=](const K &k) { return winograd_workspace(f, k) <= workspace; }},
    };
}

}  // namespace

Space winograd_space(Candidate base, const WinogradTransform &transform, const ConvLoops &shape, const Target &target,
                     const Core &core) {
    const WinogradFacts facts = transform.halves_channels
                                    ? strassen_facts(shape, target, core)
                                    : winograd_facts(shape, transform.m, target, core, transform.parts);
    const WinogradDomains allowed = domains(facts, transform);
    std::vector<Knob> knobs = knob_list(allowed);
    // Candidates were recorded without them.
    for (Knob &knob : knobs) {
        knob.zero_left_out =
            knob.name == knob_name(&WinogradKnobs::fetch_weights) || knob.name == knob_name(&WinogradKnobs::prefetch) ||
            knob.name == knob_name(&WinogradKnobs::images) || knob.name == knob_name(&WinogradKnobs::tile_images) ||
            knob.name == knob_name(&WinogradKnobs::partition) || knob.name == knob_name(&WinogradKnobs::stage_input) ||
            knob.name == knob_name(&WinogradKnobs::fetch_panels);
    }
    base.schedule = winograd_name;
    base.schedule_version = winograd_version;
    base.knobs = present(encode_knobs(default_winograd_knobs(facts, allowed)), knobs);
    return Space(std::move(base), std::move(knobs), {constraint(limits(facts))});
}

}  // namespace kiln
