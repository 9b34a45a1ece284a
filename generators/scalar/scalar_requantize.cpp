#include "generators/scalar/scalar_requantize.h"

#include <vector>

#include "generators/requantize.h"

namespace kiln {

using namespace Halide;

namespace {

// A sum of 24 bits times 2^8, times the multiplier, has what is needed in the upper 32 bits: the quotient by 2^31 and the
// first 7 bits of its fraction.
constexpr int fraction = 7;

// Zero point and rounding are added before the last shift, so they must have room.
constexpr int most_shift = 22;

// Shifts of ONNX's short form. A result is from -256 to 256 wherever it is not at a bound, so that the product in f32 has its last place
// at 2^-16 or below. Fewer bits behind the point leave a wider margin around a half. With more there is no room for the zero point,
// or sums that f32 rounds are not beyond all bounds.
//
// The multiplier is the fraction of 24 bits times 2^`multiplied`. Of small sums those bits are zero, so where a scale asks for a larger
// shift, the multiplier is smaller instead, and as exact: `most_scaled` is the largest that can be asked for.
struct OnnxShifts {
    int least, most, multiplied, most_scaled;
};
constexpr OnnxShifts onnx_small{8, 22, 7, 29}, onnx_large{7, 15, 8, 15};

// Beyond all bounds of results.
constexpr int most_one_result = 1 << 12;

// What an input is at most, without its zero point.
constexpr int most_input = 255;

Expr unsigned_of(const Expr &e) { return cast<uint32_t>(e); }

// One of the functions that C files get (CPrelude).
Expr c_function(const char *name, const std::vector<Expr> &arguments) {
    return Internal::Call::make(Int(32), name, arguments, Internal::Call::PureExtern);
}

}  // namespace

ScalarRequantization::ScalarRequantization(int64_t terms, EpilogueStep::Kind kind, bool knows_terms)
    : onnx_(kind == EpilogueStep::Kind::requantize_onnx),
      most_products_(terms * most_input * 128),
      small_(knows_terms && most_products_ <= 1 << 22) {}

Expr ScalarRequantization::fits(const ChannelNumbers &n) const {
    const int64_t most_sum = small_ ? (1 << 23) - 1 : 1 << 30;
    const int64_t most_bias = most_sum - most_products_;
    if (most_bias < 0) return Internal::const_false();
    const int room = static_cast<int>(most_bias);
    const Expr has_one = one_result(n).exists;
    if (onnx_) {
        const Expr shift = onnx_shift(n.multiplier);
        return has_one || (shift >= (small_ ? onnx_small.least : onnx_large.least) &&
                           shift <= (small_ ? onnx_small.most_scaled : onnx_large.most_scaled) && n.bias <= room &&
                           n.bias >= -room);
    }
    return has_one || (n.shift < 0 && n.shift >= -(small_ ? most_shift - fraction : most_shift) && n.bias <= room &&
                       n.bias >= -room);
}

// How far the upper half of the product is shifted: by the bits behind its point. A sum has 24 bits and is multiplied by 2^8, and the
// fraction's first bit is the 31st; or the sum is as it is, and the fraction's first bit is the 32nd.
Expr ScalarRequantization::onnx_shift(const Expr &bits) const {
    const Expr exponent = cast<int32_t>(unsigned_of(reinterpret<uint32_t>(bits)) >> cast<uint32_t>(23));
    return (small_ ? 133 : 126) - exponent;
}

// The one result that all sums of a channel have, and whether there is one. Channels have it whose weights are zero, and others where
// scales are tiny. By ONNX's rule, a result so near a half that f32 may round it to the other side counts as none: it lies between
// -2^9 and 2^9, or beyond all bounds, so a distance of 2^-13 is enough.
ScalarRequantization::OneResult ScalarRequantization::one_result(const ChannelNumbers &n) const {
    if (!onnx_) {
        const Expr of_bias = litert_requantized(n.bias, n.multiplier, n.shift);
        return {clamp(of_bias, -most_one_result, most_one_result), n.weights == 0};
    }
    constexpr int least = 10, most = 22;  // bits behind the point
    const Expr bits = reinterpret<uint32_t>(n.multiplier);
    const Expr fraction = (bits & cast<uint32_t>(0x7fffff)) | cast<uint32_t>(0x800000);
    const Expr behind = 125 - cast<int32_t>(bits >> cast<uint32_t>(23)), by = clamp(behind, least, most);
    const Expr half = 1 << unsigned_of(by - 1), margin = (1 << unsigned_of(max(by - 13, 0))) + 1;
    const auto product = [&](const Expr &sum) {
        return cast<int32_t>((sum * cast<int64_t>(fraction)) >> cast<uint64_t>(25)) >>
               unsigned_of(clamp(behind - most, 0, 31));
    };
    const Expr products = cast<int64_t>(n.weights) * most_input, bias = cast<int64_t>(n.bias);
    const Expr lowest = (product(bias - products) + half - margin) >> unsigned_of(by);
    const Expr highest = (product(bias + products) + half + margin) >> unsigned_of(by);
    return {lowest, behind >= least && lowest == highest && lowest >= -most_one_result && lowest <= most_one_result};
}

Expr ScalarRequantization::onnx_record(const Expr &i, const ChannelNumbers &n, const Expr &all_fit) const {
    const OnnxShifts &shifts = small_ ? onnx_small : onnx_large;
    const Expr bits = reinterpret<uint32_t>(n.multiplier);
    const Expr fraction = (bits & cast<uint32_t>(0x7fffff)) | cast<uint32_t>(0x800000);
    const Expr asked = onnx_shift(n.multiplier);
    const Expr right = clamp(asked, shifts.least, shifts.most), by = unsigned_of(right);
    const Expr smaller = unsigned_of(clamp(asked - shifts.most, 0, shifts.most_scaled - shifts.most));
    const Expr half = cast<int32_t>(cast<uint32_t>(1) << (by - cast<uint32_t>(1)));
    const Expr rounding = reinterpret<int32_t>(unsigned_of(n.zero_point) << by) + half;
    const Expr multiplier = reinterpret<int32_t>((fraction << cast<uint32_t>(shifts.multiplied)) >> smaller);
    // A product with 0 is far from a half, and what is added is the result.
    const OneResult one = one_result(n);
    const Expr of_one = (one.result + n.zero_point) * (1 << shifts.least) + (1 << (shifts.least - 1));
    return select(i == 0, n.start,                                                              //
                  i == 1, select(all_fit, select(one.exists, 0, multiplier), n.multiplier),     //
                  i == 2, select(all_fit, select(one.exists, of_one, rounding), n.zero_point),  //
                  select(one.exists, shifts.least, right));
}

Expr ScalarRequantization::onnx_short_form(const Expr &sum, const Expr (&record)[record_size]) const {
    const Expr &rounding = record[2], shift = unsigned_of(record[3]), multiplier = reinterpret<uint32_t>(record[1]);
    const Expr factor = small_ ? reinterpret<int32_t>(unsigned_of(sum) << cast<uint32_t>(8)) : sum;
    const Expr high = cast<int32_t>((cast<int64_t>(factor) * cast<int64_t>(multiplier)) >> cast<uint64_t>(32));
    const OnnxShifts &shifts = small_ ? onnx_small : onnx_large;
    // The product is shifted by 32 first, and `factor` is the sum times 2^8 where it is small.
    const Expr behind = cast<uint32_t>(small_ ? 24 : 32) + shift;
    return c_function("kiln_nearest",
                      {sum, high, rounding, shift, cast<uint32_t>(1 << (32 - shifts.least)), multiplier, behind});
}

Expr ScalarRequantization::record(const Expr &i, const ChannelNumbers &n, const Expr &all_fit) const {
    if (onnx_) return onnx_record(i, n, all_fit);
    const OneResult one = one_result(n);
    const Expr is_one = all_fit && one.exists;
    const Expr right = unsigned_of(select(is_one, 1, clamp(-n.shift, 1, most_shift)));
    const Expr half = cast<int32_t>(cast<uint32_t>(1) << (right - cast<uint32_t>(1)));
    const Expr zero_point = n.zero_point + select(is_one, one.result, 0);
    const Expr rounding = reinterpret<int32_t>(unsigned_of(zero_point) << right) + half;
    const Expr finer = reinterpret<int32_t>(unsigned_of(rounding) << cast<uint32_t>(fraction)) + (1 << (fraction - 1));
    const Expr by = cast<int32_t>(right);
    const Expr twice = reinterpret<int32_t>(unsigned_of(n.multiplier) << cast<uint32_t>(1));
    return select(i == 0, n.start,                                                                          //
                  i == 1, select(is_one, 0, select(all_fit, small_ ? n.multiplier : twice, n.multiplier)),  //
                  i == 2, select(all_fit, small_ ? finer : rounding, n.zero_point),                         //
                  select(all_fit, small_ ? by + fraction : by, n.shift));
}

Expr ScalarRequantization::short_form(const Expr &sum, const Expr (&record)[record_size]) const {
    if (onnx_) return onnx_short_form(sum, record);
    const Expr &multiplier = record[1], &rounding = record[2], shift = unsigned_of(record[3]);
    if (small_) {
        // As a number without a sign, since sums of channels that do not fit may be too large.
        const Expr times_256 = reinterpret<int32_t>(unsigned_of(sum) << cast<uint32_t>(8));
        const Expr scaled = cast<int64_t>(times_256) * cast<int64_t>(multiplier);
        const Expr high = cast<int32_t>(scaled >> cast<uint64_t>(32));
        return c_function("kiln_shifted", {high, 1 << fraction, rounding, shift});
    }
    const Expr scaled = cast<int64_t>(sum) * cast<int64_t>(reinterpret<uint32_t>(multiplier));
    const Expr high = cast<int32_t>(scaled >> cast<uint64_t>(32)), low = cast<uint32_t>(scaled);
    const Expr rounded = high + cast<int32_t>(low >> cast<uint32_t>(31));
    return c_function("kiln_shifted", {rounded, 1, rounding, shift});
}

Expr ScalarRequantization::general_form(const Expr &sum, const Expr (&record)[record_size]) const {
    if (onnx_) {
        const Expr nearest = c_function("kiln_nearest_product", {sum, reinterpret<uint32_t>(record[1])});
        return clamp(nearest, -(1 << 30), 1 << 30) + record[2];
    }
    // Far beyond all bounds, but with room for what is added.
    const Expr rounded = clamp(c_function("kiln_requantize", {sum, record[1], record[3]}), -(1 << 30), 1 << 30);
    return rounded + record[2];
}

Expr ScalarRequantization::bounded(const Expr &above_most, const Expr &span, const Expr &least) {
    return c_function("kiln_bounded", {above_most, span, least});
}

}  // namespace kiln
