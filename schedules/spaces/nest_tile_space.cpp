#include "schedules/spaces/nest_tile_space.h"

#include <algorithm>
#include <array>
#include <optional>

#include "workload/division.h"

namespace kiln {
namespace {

constexpr int64_t most_copied = 1 << 15;            // elements
constexpr int64_t least_work_of_threads = 1 << 16;  // terms
constexpr int64_t most_unrolled_columns = 4;

struct Facts {
    NestForm form;
    int64_t lanes, registers, terms;  // terms of the reduction; 0: none
    int threads;
    bool is_long = false;  // a term has functions of many constants

    int64_t columns() const { return form.loops.back(); }
    int64_t rows() const { return form.loops.size() > 1 ? form.loops[form.loops.size() - 2] : 1; }
    int64_t columns_over() const { return form.over.empty() ? 1 : form.over.back(); }
};

// Long polynomials, whose constants take more loads than their arithmetic hides (generators/nest/float_functions.cpp). Logarithms and erf
// gained nothing from long vectors.
bool has_many_constants(scalar::Function function) {
    switch (function) {
        case scalar::Function::exponential:
        case scalar::Function::sine:
        case scalar::Function::cosine:
        case scalar::Function::tangent_hyperbolic:
        case scalar::Function::sigmoid:
            return true;
        default:
            return false;
    }
}

Facts facts_of(const Nest &nest, const Target &target) {
    Facts facts{nest_form(nest), vector_lanes(target), vector_registers(target), 0, target.threads};
    facts.is_long = std::ranges::any_of(nest.term.steps,
                                        [](const scalar::Step &step) { return has_many_constants(step.function); });
    if (nest.reduction == Reduction::none) return facts;
    facts.terms = 1;
    for (int64_t extent : facts.form.over) facts.terms *= extent;
    return facts;
}

using Stride = std::optional<int64_t>;

// Lanes of a vector that lie apart are gathered one by one.
bool is_apart(const Stride &stride) { return !stride || (*stride != 0 && *stride != 1); }

// Lanes of the innermost loop would be apart, those of the reduction are not.
bool runs_over(const Facts &f) {
    if (f.lanes == 1 || f.form.over.empty() || f.columns_over() < f.lanes) return false;
    const size_t last = f.form.loops.size() - 1, last_over = f.form.over.size() - 1;
    bool apart = f.columns() == 1, apart_over = false;
    for (const FlatRead &read : f.form.reads) {
        apart = apart || is_apart(read.stride(last));
        apart_over = apart_over || is_apart(read.stride_over(last_over));
    }
    return apart && !apart_over;
}

// Some read is the same in all rows, and some in all columns: rows of a step share the one, vectors the other.
bool shares_reads(const Facts &f) {
    const size_t last = f.form.loops.size() - 1;
    if (f.terms < 4 || last == 0) return false;
    bool of_rows = false, of_columns = false;
    for (const FlatRead &read : f.form.reads) {
        of_rows = of_rows || (read.stride(last - 1) == 0 && read.stride(last) != 0);
        of_columns = of_columns || (read.stride(last) == 0 && read.stride(last - 1) != 0);
    }
    return of_rows && of_columns;
}

// The lines of memory that a vector gathers from are those of the next rows, too.
bool turns_memory(const Facts &f) {
    const size_t last = f.form.loops.size() - 1;
    return f.terms == 0 && last > 0 && std::ranges::any_of(f.form.reads, [&](const FlatRead &read) {
               return is_apart(read.stride(last)) && read.stride(last - 1) == 1;
           });
}

// The innermost loop is too short for a vector and the one around it is not: vectors of rows are stored side by side, interleaved.
bool may_lie_across(const Facts &f) {
    return f.terms == 0 && f.columns() > 1 && f.columns() <= most_unrolled_columns && f.lanes > f.columns() &&
           f.rows() >= f.lanes;
}

bool any_copied(const Facts &f) {
    return f.terms > 1 && f.columns() >= f.lanes &&
           std::ranges::any_of(f.form.reads, [&](const FlatRead &read) { return is_copied(read, f.form); });
}

// Pools with padding, sums along channels.
bool may_be_outside(const Facts &f) {
    return std::ranges::any_of(f.form.reads, [](const FlatRead &read) { return !read.checked.empty(); });
}

// Vectors of a step may be one: memory has all of their elements side by side, or one element for all.
bool may_be_together(const Facts &f) {
    const size_t last = f.form.loops.size() - 1;
    return f.lanes > 1 && f.terms == 0 && f.columns() >= 2 * f.lanes &&
           std::ranges::none_of(f.form.reads, [&](const FlatRead &read) {
               return is_apart(read.stride(last)) || !read.checked.empty();
           });
}

std::vector<int64_t> powers(int64_t last, int64_t most) {
    std::vector<int64_t> values{1};
    for (int64_t v = 2; v <= std::min(last, most); v *= 2) values.push_back(v);
    return values;
}

NestTileDomains domains(const Facts &f) {
    NestTileDomains d;
    const bool may_run_over = f.lanes > 1 && f.columns_over() >= f.lanes;
    if (may_run_over) d.lanes = {0, 1};
    if (may_lie_across(f)) d.lanes.push_back(2);
    const int64_t columns =
        std::max({f.columns(), may_run_over ? f.columns_over() : 0, may_lie_across(f) ? f.rows() : 0});
    d.vectors = powers(columns / f.lanes, 8);
    d.rows = powers(f.rows(), 16);
    if (f.terms > 1 && f.terms <= most_unrolled) d.unroll_over = {0, 1};
    if (any_copied(f)) d.copied = {0, 1};
    if (f.lanes > 1 && may_be_outside(f)) d.partition = {0, 1};
    if (may_be_together(f)) d.together = {0, 1};
    if (f.threads > 1) {
        d.parallel.clear();
        for (size_t p = 0; p <= std::max<size_t>(1, f.form.loops.size() - 1); p++)
            d.parallel.push_back(static_cast<int64_t>(p));
    }
    return d;
}

// Vectors of partial sums: each adds to itself, so few of them wait for each other; the last step is as long as all others,
// whatever is left of it.
int64_t default_vectors_over(const Facts &f) {
    const auto cost = [&](int64_t vectors) {
        const int64_t steps = ceil_div(f.columns_over(), vectors * f.lanes);
        return 4 * steps * vectors + steps;
    };
    return std::ranges::min(powers(f.columns_over() / f.lanes, 4), {}, cost);
}

// Enough shares that threads end at about the same time; none where starting them takes longer than the work.
int64_t default_parallel(const Facts &f) {
    if (f.threads == 1) return 0;
    int64_t work = std::max<int64_t>(f.terms, 1), shares = 1, parallel = 0;
    for (int64_t extent : f.form.loops) work *= extent;
    if (work < least_work_of_threads) return 0;
    const auto outer = static_cast<int64_t>(f.form.loops.size()) - 1;
    while (parallel < std::max<int64_t>(outer, 1) && shares < 4 * f.threads) shares *= f.form.loops[parallel++];
    return parallel;
}

// Copying pays from a few rows on, as long as the copy stays in the caches.
bool copies(const Facts &f, int64_t vectors) {
    return any_copied(f) && f.rows() >= 4 && vectors * f.lanes * f.terms <= most_copied;
}

NestTileKnobs default_knobs(const Facts &f) {
    NestTileKnobs k;
    k.vectors = powers(f.columns() / f.lanes, 4).back();
    int64_t narrowed = k.vectors;
    while (narrowed > 1 && !copies(f, narrowed)) narrowed /= 2;
    k.copied = copies(f, narrowed);
    if (k.copied) k.vectors = narrowed;
    k.lanes = !k.copied && runs_over(f);
    if (k.lanes) {
        k.vectors = default_vectors_over(f);
    } else if (turns_memory(f) && may_lie_across(f)) {
        k.lanes = 2, k.vectors = 1;
    } else if (turns_memory(f)) {
        k.vectors = 1, k.rows = powers(f.rows(), std::min<int64_t>(16, f.registers - 2)).back();
    } else if (shares_reads(f)) {
        k.rows = powers(f.rows(), std::min<int64_t>(4, (f.registers - 2) / k.vectors)).back();
    }
    // Of 32 registers some keep constants; of 16 none does, and each vector would load them.
    k.together = f.is_long && may_be_together(f) && k.vectors > 1 && k.rows == 1 && f.registers <= 16;
    k.unroll_over = !k.lanes && f.terms > 1 && f.terms <= 16;
    k.parallel = default_parallel(f);
    k.partition = f.lanes > 1 && may_be_outside(f);
    return k;
}

std::vector<Limit<NestTileKnobs>> limits(const Facts &f) {
    const int64_t registers = f.registers, lanes = f.lanes, terms = f.terms;
    const std::array<int64_t, 3> extents{f.columns(), f.columns_over(), f.rows()};  // by what the lanes are
    return {{"vectors go beyond the loop that their lanes are of",
             [=](const NestTileKnobs &k) { return k.vectors == 1 || k.vectors * lanes <= extents[k.lanes]; }},
            {"rows of a step are for lanes of the innermost loop",
             [](const NestTileKnobs &k) { return k.lanes == 0 || k.rows == 1; }},
            {"an unrolled reduction has lanes of the innermost loop",
             [](const NestTileKnobs &k) { return k.lanes == 0 || k.unroll_over == 0; }},
            {"copied operands have lanes of the innermost loop, and fit in the caches",
             [=](const NestTileKnobs &k) {
                 return k.copied == 0 || (k.lanes == 0 && k.vectors * lanes * terms <= most_copied);
             }},
            {"one long vector is made of several",
             [](const NestTileKnobs &k) { return k.together == 0 || (k.lanes == 0 && k.vectors > 1); }},
            {"a step needs more vector registers than the target has",
             [=](const NestTileKnobs &k) { return k.vectors * k.rows + 2 <= registers; }}};
}

}  // namespace

bool is_copied(const FlatRead &read, const NestForm &form) {
    const size_t last = form.loops.size() - 1;
    if (last == 0 || form.over.empty() || !read.checked.empty()) return false;
    return is_apart(read.stride(last)) && read.stride(last - 1) == 0 && read.stride_over(form.over.size() - 1) == 1;
}

int64_t nest_lanes(const NestTileKnobs &k, const NestForm &form, const Target &target) {
    const int64_t extent = k.lanes == 1   ? form.over.back()
                           : k.lanes == 2 ? form.loops[form.loops.size() - 2]
                                          : form.loops.back();
    return std::min<int64_t>(vector_lanes(target), extent);
}

Space nest_tile_space(Candidate base, const Nest &nest, const Target &target) {
    const Facts facts = facts_of(nest, target);
    base.schedule = nest_tile_name;
    base.schedule_version = nest_tile_version;
    std::vector<Knob> knobs = knob_list(domains(facts));
    for (Knob &knob : knobs) {
        knob.zero_left_out =
            knob.name == knob_name(&NestTileKnobs::partition) || knob.name == knob_name(&NestTileKnobs::together);
    }
    base.knobs = present(encode_knobs(default_knobs(facts)), knobs);
    return Space(std::move(base), std::move(knobs), {constraint(limits(facts))});
}

}  // namespace kiln
