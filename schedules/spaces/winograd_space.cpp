#include "schedules/spaces/winograd_space.h"

#include <algorithm>
#include <set>

#include "schedules/spaces/cpu_tile_rules.h"
#include "schedules/spaces/winograd_rules.h"

namespace kiln {
namespace {

std::vector<int64_t> up_to(int64_t last) {
    std::vector<int64_t> values;
    for (int64_t v = 1; v <= last; v++) values.push_back(v);
    return values;
}

// How many of `count` make a block: 1, 2, 4, ..., the divisors of `count` up to 64, the even shares, and `count`.
std::vector<int64_t> block_sizes(int64_t count) {
    std::set<int64_t> sizes{count};
    for (int64_t b = 1; b < count; b *= 2) sizes.insert(b);
    for (int64_t b = 1; b <= std::min<int64_t>(count, 64); b++) {
        if (count % b == 0) sizes.insert(b);
    }
    for (int64_t shares = 2; shares <= 4; shares++) sizes.insert(ceil_div(count, shares));
    return {sizes.begin(), sizes.end()};
}

std::vector<Knob> domains(const WinogradFacts &f, const WinogradTransform &transform) {
    std::vector<int64_t> points, unroll, demote{0}, parallel{0};
    for (int64_t p = 0; p < transform.point_choices; p++) points.push_back(p);
    for (int64_t u : {1, 2, 4, 8}) {
        if (f.channel_step() % u == 0) unroll.push_back(u);
    }
    if (transform.may_demote) demote = {0, 1, 2};
    if (f.threads > 1) parallel = {1, 2};
    const int64_t most = f.registers - 2;
    return {{"points", points},
            {"vectors", up_to(std::min<int64_t>(4, f.output_vectors()))},
            {"tiles_x", up_to(std::min(f.tiles[0], most))},
            {"tiles_y", up_to(std::min<int64_t>(f.tiles[1], 8))},
            {"block_x", block_sizes(f.tiles[0])},
            {"block_y", block_sizes(f.tiles[1])},
            {"panel_block", block_sizes(f.output_vectors())},
            {"tile_major", {0, 1}},
            {"stage_rows", {0, 1}},
            {"unroll", unroll},
            {"demote", demote},
            {"parallel", parallel}};
}

std::vector<Constraint> constraints(const WinogradFacts &f) {
    auto at = [](const Knobs &k, const char *name) { return value_of(k, name); };
    const int64_t workspace = winograd_workspace_limit(f);
    return {
        {"the register tile needs more vector registers than the target has",
         [=](const Knobs &k) { return winograd_fits_registers(f, winograd_blocking(k)); }},
        {"register tiles are larger than the block",
         [=](const Knobs &k) { return at(k, "tiles_x") <= at(k, "block_x") && at(k, "tiles_y") <= at(k, "block_y"); }},
        {"register tiles overlap too much in their block",
         [=](const Knobs &k) { return winograd_waste(winograd_blocking(k)) <= most_winograd_waste; }},
        {"panel_block has more panels than there are",
         [=](const Knobs &k) { return at(k, "panel_block") <= ceil_div(f.output_vectors(), at(k, "vectors")); }},
        {"stage_rows needs several blocks a row",
         [=](const Knobs &k) { return !at(k, "stage_rows") || at(k, "block_x") < f.tiles[0]; }},
        {"some threads would be without work",
         [=](const Knobs &k) { return winograd_gives_all_threads_work(f, winograd_blocking(k)); }},
        {"transformed input and products of a block need more than 16 MiB",
         [=](const Knobs &k) { return winograd_workspace(f, winograd_blocking(k)) <= workspace; }},
    };
}

}  // namespace

Space winograd_space(Candidate base, const WinogradTransform &transform, const ConvShape &shape, const Target &target,
                     const Machine &machine) {
    const WinogradFacts facts = winograd_facts(shape, transform.m, target, machine);
    std::vector<Knob> knobs = domains(facts, transform);
    base.schedule = winograd_name;
    base.schedule_version = winograd_version;
    base.knobs = default_winograd_knobs(facts, knobs);
    drop_knobs_that_do_not_apply(&knobs, &base);
    return Space(std::move(base), std::move(knobs), constraints(facts));
}

}  // namespace kiln
