// A nest: result[i] = finish(reduction over r of term). Loops are those of the flat form (rewrites/nest_form.h).
#include <Halide.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "generators/kernel_generator.h"
#include "generators/nest/float_functions.h"
#include "generators/nest/scalar_function.h"
#include "schedules/apply/nest_tile.h"
#include "workload/signature.h"

namespace kiln {
namespace {

using namespace Halide;
using Exprs = std::vector<Expr>;

// The element that does not change a reduction.
Expr identity(Reduction reduction, const Type &type) {
    const Expr infinity = std::numeric_limits<float>::infinity();
    switch (reduction) {
        case Reduction::maximum:
            return type.is_float() ? -infinity : type.min();
        case Reduction::minimum:
            return type.is_float() ? infinity : type.max();
        case Reduction::product:
            return cast(type, 1);
        default:
            return cast(type, 0);
    }
}

// What an operand's elements are converted to.
Type read_type(scalar::Element type) {
    switch (type) {
        case scalar::Element::i8:
            return Int(8);
        case scalar::Element::u8:
            return UInt(8);
        case scalar::Element::i32:
            return Int(32);
        default:
            return Float(32);
    }
}

Expr joined(Reduction reduction, const Expr &a, const Expr &b) {
    switch (reduction) {
        case Reduction::maximum:
            return max(a, b);
        case Reduction::minimum:
            return min(a, b);
        case Reduction::product:
            return a * b;
        default:
            return a + b;
    }
}

Expr value_of(const Linear &linear, const Exprs &i, const Exprs &r) {
    Expr sum = extent(linear.offset);
    for (size_t d = 0; d < i.size(); d++) {
        if (linear.loops[d]) sum = sum + i[d] * extent(linear.loops[d]);
    }
    for (size_t d = 0; d < r.size(); d++) {
        if (linear.over[d]) sum = sum + r[d] * extent(linear.over[d]);
    }
    return simplify(sum);
}

class NestKernel : public KernelGenerator<NestKernel> {
public:
    void configure() {
        read_parameters();
        nest = nest_of(workload);
        form = nest_form(nest);
        for (const TensorForm &operand : signature(workload).operands) {
            operands.push_back(add_input<Buffer<>>(std::string(operand.name), halide_type(operand.dtype), 1));
        }
        output = add_output<Buffer<>>("output", halide_type(workload.output_dtype), extent(form.loops.size()));
    }

    void generate() {
        for (size_t d = 0; d < form.loops.size(); d++) stages.loops.emplace_back("i" + std::to_string(d));
        const Exprs i(stages.loops.begin(), stages.loops.end());
        if (nest.reduction != Reduction::none) term_may_be_nan = may_be_nan(nest.term);
        if (knobs().copied) make_copies(i);
        const std::optional<size_t> only = only_stored_read();
        Expr value = only ? looked_up(*only, i) : nest.reduction == Reduction::none ? element(i) : finished(i);
        (*output)(innermost_first(i)) = cast(halide_type(workload.output_dtype), value);
    }

    void schedule() {
        for (size_t n = 0; n < operands.size(); n++) fix(*operands[n], {elements(nest.operands[n])});
        fix(*output, {form.loops.rbegin(), form.loops.rend()});
        stages.output = *output;
        if (table.defined()) table.compute_root();
        apply_nest_tile(stages, knobs(), form, target_of_kiln);
    }

private:
    struct Read {
        Expr value, is_inside;  // undefined where it never leaves its operand
    };

    NestTileKnobs knobs() const { return checked_knobs<NestTileKnobs>(candidate.knobs); }

    static Exprs innermost_first(Exprs i) { return {i.rbegin(), i.rend()}; }

    // Halide's bounds of loops that are split cannot be seen in every index, so what is outside is read at the nearest element
    // inside.
    Read read(const FlatRead &flat, const Exprs &i, const Exprs &r) const {
        Expr address = value_of(flat.address, i, r), is_inside;
        for (const CheckedAxis &axis : flat.checked) {
            Expr index = value_of(axis.index, i, r);
            if (axis.table >= 0) index = cast<int>((*operands[axis.table])(index));
            const Expr last = extent(axis.extent - 1), here = likely(index >= 0 && index <= last);
            is_inside = is_inside.defined() ? is_inside && here : here;
            address = address + clamp(index, 0, last) * extent(axis.stride);
        }
        return {cast(read_type(nest.type_of(flat.operand)), (*operands[flat.operand])(address)), is_inside};
    }

    // The innermost loop, the reduction, and the loops around the rows, which share the copy.
    static Exprs place_in_copy(const Exprs &i, const Exprs &r) {
        Exprs at{i.back()};
        at.insert(at.end(), r.rbegin(), r.rend());
        for (size_t d = i.size() - 2; d-- > 0;) at.push_back(i[d]);
        return at;
    }

    void make_copies(const Exprs &i) {
        Exprs r;
        for (size_t d = 0; d < form.over.size(); d++) r.emplace_back(Var("k" + std::to_string(d)));
        copies.resize(form.reads.size());
        for (size_t n = 0; n < form.reads.size(); n++) {
            if (!is_copied(form.reads[n], form)) continue;
            copies[n] = Func("copied_" + std::to_string(n));
            std::vector<Var> place;
            for (const Expr &variable : place_in_copy(i, r))
                place.emplace_back(variable.as<Internal::Variable>()->name);
            copies[n](place) = read(form.reads[n], i, r).value;
            stages.copied.push_back(copies[n]);
        }
    }

    // A read of the nest, or what was copied of it.
    Read read_or_copy(size_t n, const Exprs &i, const Exprs &r) const {
        const bool is_copy = n < copies.size() && copies[n].defined();
        return is_copy ? Read{copies[n](place_in_copy(i, r)), Expr()} : read(form.reads[n], i, r);
    }

    // The values of all reads, and whether all of them are inside (undefined: always).
    std::pair<Exprs, Expr> read_all(const Exprs &i, const Exprs &r) const {
        Exprs values;
        Expr all;
        for (size_t n = 0; n < form.reads.size(); n++) {
            const Read one = read_or_copy(n, i, r);
            values.push_back(one.value);
            if (one.is_inside.defined()) all = all.defined() ? all && one.is_inside : one.is_inside;
        }
        return {values, all};
    }

    // Halide's partition of loops gives what is inside code of its own, without tests, where the value is likely.
    Expr where_inside(const Expr &value) const { return knobs().partition ? likely(value) : value; }

    // Reductions have no strict comparison, with which Halide adds up the lanes of a vector one by one.
    Extremes extremes() const {
        const bool is_free = get_target().arch == Target::X86 && !nest.quantizes();
        return is_free ? Extremes::keep_nan : Extremes::fastest;
    }

    Expr element(const Exprs &i) const {
        const auto [values, inside] = read_all(i, {});
        const Expr value = exactly(function_value(nest.term, {values.begin(), values.end()}, extremes()).expr);
        return inside.defined() ? select(inside, where_inside(value), cast(value.type(), 0)) : value;
    }

    // On a core without floats a function of one stored number, with constants, is computed for each of its 256 values, and looked up
    // for the elements, where these are more.
    std::optional<size_t> only_stored_read() const {
        if (!is_soft_core(target_of_kiln) || nest.reduction != Reduction::none || !nest.quantizes()) return {};
        std::optional<size_t> only;
        for (size_t n = 0; n < form.reads.size(); n++) {
            const FlatRead &read = form.reads[n];
            const bool varies = std::ranges::any_of(read.address.loops, [](int64_t factor) { return factor != 0; });
            if (!read.checked.empty() || (varies && only)) return {};
            if (varies) only = n;
        }
        if (!only || elements(form.loops) <= 2 * stored_values) return {};
        const scalar::Element type = nest.type_of(form.reads[*only].operand);
        return type == scalar::Element::i8 || type == scalar::Element::u8 ? only : std::nullopt;
    }

    Expr looked_up(size_t only, const Exprs &i) {
        const Type type = read_type(nest.type_of(form.reads[only].operand));
        const int least = type.is_int() ? -stored_values / 2 : 0;
        const Var stored("stored");
        Exprs values = read_all(Exprs(i.size(), 0), {}).first;
        values[only] = cast(type, stored + least);
        table = Func("table");
        table(stored) = cast(halide_type(workload.output_dtype), exactly(halide_expression(nest.term, values)));
        return table(cast<int>(read_all(i, {}).first[only]) - least);
    }

    // Numbers that are rounded to integers come out as they are defined: no step of theirs is approximated or joined with
    // another.
    Expr exactly(const Expr &value) const { return nest.quantizes() ? strict_float(value) : value; }

    bool may_be_nan(const scalar::Expression &function) const {
        const Exprs values = read_all(Exprs(form.loops.size(), 0), Exprs(form.over.size(), 0)).first;
        return function_value(function, {values.begin(), values.end()}).may_be_nan;
    }

    // Maxima and minima of the CPU lose NaN. Where there may be one, what is reduced are places, which are integers.
    bool reduces_places() const {
        const bool is_extreme = nest.reduction == Reduction::maximum || nest.reduction == Reduction::minimum;
        return is_extreme && term_may_be_nan && read_type(nest.type_of_term()) == Float(32);
    }

    Expr in_order(const Expr &number) const {
        using Limits = std::numeric_limits<int32_t>;
        if (!reduces_places()) return number;
        return place_of_number(number, nest.reduction == Reduction::maximum ? Limits::max() : Limits::min());
    }

    Expr start() const { return in_order(identity(nest.reduction, read_type(nest.type_of_term()))); }

    // Halide leaves out the loops of a reduction where nothing mentions one of them, so that equal terms would count once. The condition
    // always holds, and no code is left of it.
    static Expr mentioned(const Expr &r) { return r >= 0; }

    bool is_read(size_t over) const {
        const auto has = [&](const Linear &linear) { return linear.over[over] != 0; };
        return std::ranges::any_of(form.reads, [&](const FlatRead &read) {
            return has(read.address) || std::ranges::any_of(read.checked, has, &CheckedAxis::index);
        });
    }

    Expr term(const Exprs &i, const Exprs &r) const {
        const auto [values, inside] = read_all(i, r);
        Expr value = in_order(exactly(halide_expression(nest.term, values)));
        if (inside.defined()) value = select(inside, where_inside(value), start());
        for (size_t d = 0; d < r.size(); d++) {
            if (!is_read(d)) value = select(mentioned(r[d]), value, start());
        }
        return value;
    }

    // What finish takes does not depend on r, and is 0 outside: no term is left out for it there.
    Exprs read_to_finish(const Exprs &i) const {
        const Exprs r(form.over.size(), 0);
        Exprs values;
        for (size_t n = 0; n < form.reads.size(); n++) {
            const Read one = read_or_copy(n, i, r);
            const bool may_leave = one.is_inside.defined();
            values.push_back(may_leave ? select(one.is_inside, where_inside(one.value), cast(one.value.type(), 0))
                                       : one.value);
        }
        return values;
    }

    Expr finished(const Exprs &i) {
        Expr reduced = knobs().lanes ? reduced_in_lanes(i) : reduced_in_columns(i);
        if (nest.reduction == Reduction::mean) reduced = exactly(float_quotient(reduced, terms(i)));
        if (reduces_places()) reduced = number_at_place(reduced);
        const Exprs read = read_to_finish(i);
        std::vector<FunctionValue> values(read.begin(), read.end());
        values.emplace_back(reduced, term_may_be_nan);
        return exactly(function_value(nest.finish, values).expr);
    }

    void reduce(Func sum, const Exprs &at, const Expr &value) const {
        sum(at) = joined(nest.reduction, sum(at), value);
    }

    // A domain of the reduction with its loops outermost first; `last` is the extent of the innermost.
    std::vector<RVar> domain(const std::string &name, int64_t last) const {
        Region region;
        for (size_t d = form.over.size(); d-- > 0;)
            region.emplace_back(0, extent(d + 1 == form.over.size() ? last : form.over[d]));
        const RDom loops(region, name);
        std::vector<RVar> over;
        for (int d = loops.dimensions(); d-- > 0;) over.push_back(loops[d]);
        return over;
    }

    Expr reduced_in_columns(const Exprs &i) {
        const Exprs at = innermost_first(i);
        stages.sum = Func("sum");
        stages.sum(at) = start();
        if (!form.over.empty()) stages.over = domain("r", form.over.back());
        reduce(stages.sum, at, term(i, {stages.over.begin(), stages.over.end()}));
        return stages.sum(at);
    }

    // Lane l of the partial sums has terms l, l + lanes, ... A last step that would go beyond the end is moved back, and leaves
    // out what the one before it has.
    Expr reduced_in_lanes(const Exprs &i) {
        const int64_t lanes = nest_lanes(knobs(), form, target_of_kiln) * knobs().vectors;
        const int64_t steps = form.over.back() / lanes, rest = form.over.back() % lanes;
        const Exprs at = innermost_first(i);
        Exprs in_lane = at;
        in_lane.insert(in_lane.begin(), stages.lane);
        stages.partial = Func("partial"), stages.total = Func("total");
        stages.partial(in_lane) = start();
        stages.lanes_over = domain("step", steps);
        Exprs r(stages.lanes_over.begin(), stages.lanes_over.end());
        r.back() = r.back() * extent(lanes) + stages.lane;
        reduce(stages.partial, in_lane, term(i, r));
        if (rest > 0) {
            const std::vector<RVar> others = domain("rest", 1);
            Exprs left(others.begin(), others.end());
            left.back() = extent(form.over.back() - lanes) + stages.lane;
            const Expr is_left = stages.lane >= extent(lanes - rest);
            reduce(stages.partial, in_lane, select(is_left, term(i, left), start()));
        }
        stages.total(at) = start();
        const RDom all_lanes(0, extent(lanes), "lanes");
        stages.sums = all_lanes;
        in_lane[0] = all_lanes;
        reduce(stages.total, at, stages.partial(in_lane));
        return stages.total(at);
    }

    // Terms of a mean that are inside: a number, or a function of the loops that its checked axes look at.
    Expr terms(const Exprs &i) {
        int64_t all = 1;
        for (int64_t count : form.over) all *= count;
        std::vector<bool> looked_at(i.size());
        bool is_checked = false;
        for (const FlatRead &flat : form.reads) {
            for (const CheckedAxis &axis : flat.checked) {
                is_checked = true;
                for (size_t d = 0; d < i.size(); d++) looked_at[d] = looked_at[d] || axis.index.loops[d] != 0;
            }
        }
        if (!is_checked) return static_cast<float>(all);
        Exprs at, loops = i, arguments;
        std::vector<Var> variables;
        for (size_t d = i.size(); d-- > 0;) {
            if (!looked_at[d]) continue;
            variables.emplace_back("n" + std::to_string(d));
            loops[d] = variables.back();
            at.push_back(i[d]);
        }
        const std::vector<RVar> over = domain("counted", form.over.back());
        stages.count = Func("count");
        stages.count(variables) = 0.0f;
        const Expr is_inside = read_all(loops, {over.begin(), over.end()}).second;
        stages.count(variables) += select(is_inside && mentioned(over.front()), 1.0f, 0.0f);
        return stages.count(at);
    }

    Nest nest;
    NestForm form;
    std::vector<GeneratorInput<Buffer<>> *> operands;
    GeneratorOutput<Buffer<>> *output = nullptr;
    NestStages stages;
    bool term_may_be_nan = false;  // where all that is read is finite
    Func table;                    // of results, by what is stored; undefined where there is none
    static constexpr int stored_values = 256;
    std::vector<Func> copies;  // of each read; undefined where it is none
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::NestKernel, nest)
