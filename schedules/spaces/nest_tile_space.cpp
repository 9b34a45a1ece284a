#include "schedules/spaces/nest_tile_space.h"

#include <algorithm>

namespace kiln {
namespace {

struct Facts {
    NestForm form;
    int64_t lanes, registers, terms;  // terms of the reduction; 0: none
    int threads;

    int64_t columns() const { return form.loops.back(); }
    int64_t rows() const { return form.loops.size() > 1 ? form.loops[form.loops.size() - 2] : 1; }
    int64_t columns_over() const { return form.over.empty() ? 1 : form.over.back(); }
};

Facts facts_of(const Nest &nest, const Target &target) {
    Facts facts{nest_form(nest), vector_lanes(target), vector_registers(target), 0, target.threads};
    if (nest.reduction == Reduction::none) return facts;
    facts.terms = 1;
    for (int64_t extent : facts.form.over) facts.terms *= extent;
    return facts;
}

bool any_read(const NestForm &form, int64_t factor, std::vector<int64_t> Linear::*factors) {
    return std::ranges::any_of(form.reads,
                               [&](const FlatRead &read) { return (read.address.*factors).back() == factor; });
}

// The reduction goes along memory, and the innermost loop does not.
bool runs_over(const Facts &f) {
    if (f.form.over.empty() || f.columns_over() < f.lanes) return false;
    if (!any_read(f.form, 1, &Linear::over)) return false;
    return f.columns() < f.lanes || !any_read(f.form, 1, &Linear::loops);
}

// Some read is the same in all rows, and some in all columns: rows of a step share the one, vectors the other.
bool shares_reads(const Facts &f) {
    const size_t last = f.form.loops.size() - 1;
    if (f.terms < 4 || last == 0) return false;
    bool of_rows = false, of_columns = false;
    for (const FlatRead &read : f.form.reads) {
        of_rows = of_rows || (read.address.loops[last - 1] == 0 && read.address.loops[last] != 0);
        of_columns = of_columns || (read.address.loops[last] == 0 && read.address.loops[last - 1] != 0);
    }
    return of_rows && of_columns;
}

std::vector<int64_t> powers(int64_t last, int64_t most) {
    std::vector<int64_t> values{1};
    for (int64_t v = 2; v <= std::min(last, most); v *= 2) values.push_back(v);
    return values;
}

NestTileDomains domains(const Facts &f) {
    NestTileDomains d;
    const bool may_run_over = f.columns_over() >= f.lanes;
    if (may_run_over) d.lanes = {0, 1};
    const int64_t columns = std::max(f.columns() / f.lanes, may_run_over ? f.columns_over() / f.lanes : 0);
    d.vectors = powers(columns, 8);
    d.rows = powers(f.rows(), 8);
    if (f.terms > 1 && f.terms <= most_unrolled) d.unroll_over = {0, 1};
    if (f.threads > 1) {
        d.parallel.clear();
        for (size_t p = 0; p <= std::max<size_t>(1, f.form.loops.size() - 1); p++)
            d.parallel.push_back(static_cast<int64_t>(p));
    }
    return d;
}

NestTileKnobs default_knobs(const Facts &f) {
    NestTileKnobs k;
    k.lanes = runs_over(f);
    const int64_t vectors = (k.lanes ? f.columns_over() : f.columns()) / f.lanes;
    k.vectors = powers(vectors, 4).back();
    if (!k.lanes && shares_reads(f))
        k.rows = powers(f.rows(), std::min<int64_t>(4, (f.registers - 2) / k.vectors)).back();
    k.unroll_over = f.terms > 1 && f.terms <= 16;
    if (f.threads > 1) {
        // Enough shares that threads end at about the same time.
        int64_t shares = 1;
        const auto outer = static_cast<int64_t>(f.form.loops.size()) - 1;
        while (k.parallel < std::max<int64_t>(outer, 1) && shares < 4 * f.threads) shares *= f.form.loops[k.parallel++];
    }
    return k;
}

std::vector<Limit<NestTileKnobs>> limits(const Facts &f) {
    const int64_t registers = f.registers, columns = f.columns(), over = f.columns_over(), lanes = f.lanes;
    return {{"vectors go beyond the loop that their lanes are of",
             [=](const NestTileKnobs &k) { return k.vectors == 1 || k.vectors * lanes <= (k.lanes ? over : columns); }},
            {"rows of a step are for lanes of the innermost loop",
             [](const NestTileKnobs &k) { return k.lanes == 0 || k.rows == 1; }},
            {"an unrolled reduction has lanes of the innermost loop",
             [](const NestTileKnobs &k) { return k.lanes == 0 || k.unroll_over == 0; }},
            {"a step needs more vector registers than the target has",
             [=](const NestTileKnobs &k) { return k.vectors * k.rows + 2 <= registers; }}};
}

}  // namespace

int64_t nest_lanes(const NestTileKnobs &k, const NestForm &form, const Target &target) {
    const int64_t extent = k.lanes ? form.over.back() : form.loops.back();
    return std::min<int64_t>(vector_lanes(target), extent);
}

Space nest_tile_space(Candidate base, const Nest &nest, const Target &target) {
    const Facts facts = facts_of(nest, target);
    base.schedule = nest_tile_name;
    base.schedule_version = nest_tile_version;
    std::vector<Knob> knobs = knob_list(domains(facts));
    base.knobs = present(encode_knobs(default_knobs(facts)), knobs);
    return Space(std::move(base), std::move(knobs), {constraint(limits(facts))});
}

}  // namespace kiln
