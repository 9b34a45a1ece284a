// Requantization (generators/requantize.h) in as few scalar operations as its numbers allow.
//
// LiteRT's: where every channel shifts to the right and sums are small enough, both roundings and the zero point are an addition each.
//
// ONNX's, whose scale is a number of f32: its fraction is the multiplier and its exponent the shift. The product of a sum and the
// fraction is as good as exact, so its nearest integer is that of the product in f32, unless a half is nearer than the latter's last
// place. There, once in a hundred results or less, the product is rounded as f32 has it. Sums beyond 2^24, which f32 rounds, are
// beyond all bounds of the result. What does not fit has its products in f32.
//
// Real networks are like that, but for channels that training has made nothing of: their weights are zero or next to it, and their scales
// tiny. Such a channel has one result, whatever it reads, so its multiplier is 0 and its rounding the result. Whether a layer's numbers fit
// is found out when its weights are packed; if not, a loop over the outputs of a tile computes every case.
#pragma once

#include <Halide.h>

#include <cstdint>

#include "schedules/apply/scalar_result.h"
#include "workload/workload.h"

namespace kiln {

// What belongs to a channel: its bias alone, the sum of its weights' sizes, what its sums begin with, how they are scaled (ONNX:
// `multiplier` has the bits of the scale, and there is no shift), and the output's zero point less the largest result, so that the
// comparison of results with that one costs nothing.
struct ChannelNumbers {
    Halide::Expr bias, weights, start, multiplier, shift, zero_point;
};

class ScalarRequantization {
public:
    // `terms`: the products of a sum. `knows_terms`: the kernel is for so many; else for any number, and the short form is that of
    // large sums.
    ScalarRequantization(int64_t terms, EpilogueStep::Kind kind, bool knows_terms = true);

    // Whether a channel's numbers have the short form, a condition.
    Halide::Expr fits(const ChannelNumbers &n) const;

    // The record of a channel, four numbers of i32: what sums begin with, multiplier, rounding, shift. Where not all channels
    // fit, the third is the zero point as above, and the others are as they were given.
    static constexpr int record_size = scalar_record_size;
    Halide::Expr record(const Halide::Expr &i, const ChannelNumbers &n, const Halide::Expr &all_fit) const;

    // The result before its bounds, less the largest one: where all channels fit, and where they do not.
    Halide::Expr short_form(const Halide::Expr &sum, const Halide::Expr (&record)[record_size]) const;
    Halide::Expr general_form(const Halide::Expr &sum, const Halide::Expr (&record)[record_size]) const;

    // `span`: the largest result less the least one.
    static Halide::Expr bounded(const Halide::Expr &above_most, const Halide::Expr &span, const Halide::Expr &least);

private:
    struct OneResult {
        Halide::Expr result, exists;
    };
    OneResult one_result(const ChannelNumbers &n) const;
    Halide::Expr onnx_shift(const Halide::Expr &bits) const;
    Halide::Expr onnx_record(const Halide::Expr &i, const ChannelNumbers &n, const Halide::Expr &all_fit) const;
    Halide::Expr onnx_short_form(const Halide::Expr &sum, const Halide::Expr (&record)[record_size]) const;

    bool onnx_;
    int64_t most_products_;  // that a sum without its bias can reach
    bool small_;             // sums have 24 bits, so that one multiplication is enough
};

}  // namespace kiln
