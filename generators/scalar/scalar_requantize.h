// LiteRT's requantization (generators/requantize.h) in as few scalar operations as its numbers allow.
//
// Where every channel shifts to the right and sums are small enough, both roundings and the zero point are an addition each.
// Real networks are like that. Whether a layer's numbers are is found out when its weights are packed; if not, a loop over the
// outputs of a tile computes every case.
#pragma once

#include <Halide.h>

#include <cstdint>

namespace kiln {

// What belongs to a channel: its bias alone, what its sums begin with, how they are scaled. And the output's zero point less the
// largest result, so that results are compared with that for nothing.
struct ChannelNumbers {
    Halide::Expr bias, start, multiplier, shift, zero_point;
};

// `terms`: the products of a sum.
class ScalarRequantization {
public:
    explicit ScalarRequantization(int64_t terms);

    // Whether a channel's numbers have the short form, a condition.
    Halide::Expr fits(const ChannelNumbers &n) const;

    // The record of a channel, four numbers of i32: what sums begin with, multiplier, rounding, shift. Where not all channels
    // fit, the third is the zero point as above, and the others are as they were given.
    static constexpr int record_size = 4;
    Halide::Expr record(const Halide::Expr &i, const ChannelNumbers &n, const Halide::Expr &all_fit) const;

    // The result before its bounds, less the largest one: where all channels fit, and where they do not.
    Halide::Expr short_form(const Halide::Expr &sum, const Halide::Expr (&record)[record_size]) const;
    static Halide::Expr general_form(const Halide::Expr &sum, const Halide::Expr (&record)[record_size]);

    // `span`: the largest result less the least one.
    static Halide::Expr bounded(const Halide::Expr &above_most, const Halide::Expr &span, const Halide::Expr &least);

private:
    int64_t most_products_;  // that a sum without its bias can reach
    bool small_;             // sums have 24 bits, so that one multiplication is enough
};

}  // namespace kiln
