#include "generators/activation.h"

#include <utility>

namespace kiln {

using Halide::Expr;

namespace {

Expr value_of(const Digit &digit, const Exprs &indices) {
    Expr value = indices[digit.index];
    if (digit.shift) value += extent(digit.shift);
    if (digit.divisor > 1) value = value / extent(digit.divisor);
    if (digit.modulus) value = value % extent(digit.modulus);
    return digit.factor == 1 ? value : value * extent(digit.factor);
}

Expr both(const Expr &a, const Expr &b) { return a.defined() ? a && b : b; }

// One chain of conditions, in order: the compiler finds what several tests share.
Expr also_inside(const Place &place, const Exprs &indices, Expr condition) {
    const Expr at = kiln::value_of(place.form, indices);
    condition = both(both(condition, at >= 0), at < extent(place.dilated()));
    return place.hole == 1 ? condition : condition && at % extent(place.hole) == 0;
}

}  // namespace

Expr value_of(const Form &form, const Exprs &indices) {
    Expr sum;
    for (const Digit &digit : form.digits) {
        const Expr value = value_of(digit, indices);
        sum = sum.defined() ? sum + value : value;
    }
    if (!sum.defined()) return extent(form.constant);
    return form.constant ? sum + extent(form.constant) : sum;
}

Exprs values_of(const std::vector<Form> &forms, const Exprs &indices) {
    Exprs values;
    for (const Form &form : forms) values.push_back(value_of(form, indices));
    return values;
}

Expr is_in_range(const Place &place, const Exprs &indices) {
    const Expr at = value_of(place.form, indices);
    return at >= 0 && at < extent(place.dilated());
}

Expr is_inside(const Place &place, const Exprs &indices) { return also_inside(place, indices, Expr()); }

Expr nearest(const Place &place, const Exprs &indices) {
    const Expr at = value_of(place.form, indices);
    if (place.outside == Outside::never) return at;
    const Expr in_range = Halide::clamp(at, 0, extent(place.dilated()) - 1);
    return place.hole == 1 ? in_range : in_range / extent(place.hole);
}

Expr channel_of(const StoredActivation &stored, const Expr &in_block, const Expr &block) {
    if (stored.block == stored.channels) return in_block;
    return stored.block == 1 ? block : block * extent(stored.block) + in_block;
}

ChannelPlace place_of_channel(const StoredActivation &stored, const Expr &channel) {
    const int block = extent(stored.block);
    if (stored.block == stored.channels) return {channel, 0};
    if (block == 1) return {0, channel};
    return {channel % block, channel / block};
}

Expr zero_outside(const ElementMap &map, const Exprs &indices, Expr value, Tests tests) {
    const Expr zero = Halide::cast(value.type(), 0);
    return with_outside(map, indices, std::move(value), zero, tests);
}

Expr with_outside(const ElementMap &map, const Exprs &indices, Expr value, const Expr &otherwise, Tests tests) {
    Expr all;
    for (const Place &place : map) {
        if (place.outside != Outside::zero) continue;
        const Expr inside = is_inside(place, indices);
        // The mark of a condition splits no loop by itself. It stays, as loops that a tile's end splits lose such tests, too.
        if (tests == Tests::apart) value = Halide::select(Halide::likely(inside), value, otherwise);
        if (tests == Tests::likely) value = Halide::select(inside, Halide::likely(value), otherwise);
        if (tests == Tests::together) all = also_inside(place, indices, all);
    }
    return all.defined() ? Halide::select(Halide::likely(all), value, otherwise) : value;
}

}  // namespace kiln
