#include "generators/scalar/scalar_requantize.h"

#include <vector>

namespace kiln {

using namespace Halide;

namespace {

// A sum of 24 bits times 2^8, times the multiplier, has what is needed in the upper 32 bits: the quotient by 2^31 and the
// first 7 bits of its fraction.
constexpr int fraction = 7;

// Zero point and rounding are added before the last shift, so they must have room.
constexpr int most_shift = 22;

Expr unsigned_of(const Expr &e) { return cast<uint32_t>(e); }

}  // namespace

ScalarRequantization::ScalarRequantization(int64_t terms)
    : most_products_(terms * 255 * 128), small_(most_products_ <= 1 << 22) {}

Expr ScalarRequantization::fits(const ChannelNumbers &n) const {
    const int64_t most_sum = small_ ? (1 << 23) - 1 : 1 << 30;
    const int64_t most_bias = most_sum - most_products_;
    if (most_bias < 0) return Internal::const_false();
    const int room = static_cast<int>(most_bias);
    return n.shift < 0 && n.shift >= -(small_ ? most_shift - fraction : most_shift) && n.bias <= room &&
           n.bias >= -room;
}

Expr ScalarRequantization::record(const Expr &i, const ChannelNumbers &n, const Expr &all_fit) const {
    const Expr right = unsigned_of(clamp(-n.shift, 1, most_shift));
    const Expr half = cast<int32_t>(cast<uint32_t>(1) << (right - cast<uint32_t>(1)));
    const Expr rounding = reinterpret<int32_t>(unsigned_of(n.zero_point) << right) + half;
    const Expr finer = reinterpret<int32_t>(unsigned_of(rounding) << cast<uint32_t>(fraction)) + (1 << (fraction - 1));
    const Expr by = cast<int32_t>(right);
    const Expr twice = reinterpret<int32_t>(unsigned_of(n.multiplier) << cast<uint32_t>(1));
    return select(i == 0, n.start,                                                       //
                  i == 1, select(all_fit, small_ ? n.multiplier : twice, n.multiplier),  //
                  i == 2, select(all_fit, small_ ? finer : rounding, n.zero_point),      //
                  select(all_fit, small_ ? by + fraction : by, n.shift));
}

Expr ScalarRequantization::result(const Expr &sum, const Expr (&record)[record_size], const Expr &all_fit) const {
    const Expr &multiplier = record[1], &rounding = record[2], shift = unsigned_of(record[3]);
    Expr fast;
    if (small_) {
        // As a number without a sign, since sums of channels that do not fit may be too large.
        const Expr times_256 = reinterpret<int32_t>(unsigned_of(sum) << cast<uint32_t>(8));
        const Expr scaled = cast<int64_t>(times_256) * cast<int64_t>(multiplier);
        const Expr high = cast<int32_t>(scaled >> cast<uint64_t>(32));
        // Halves away from zero: negative ones are a little less before they are rounded up.
        fast = (high + ((high >> cast<uint32_t>(31)) & -(1 << fraction)) + rounding) >> shift;
    } else {
        const Expr scaled = cast<int64_t>(sum) * cast<int64_t>(reinterpret<uint32_t>(multiplier));
        const Expr high = cast<int32_t>(scaled >> cast<uint64_t>(32)), low = cast<uint32_t>(scaled);
        const Expr rounded = high + cast<int32_t>(low >> cast<uint32_t>(31));
        fast = (rounded + (rounded >> cast<uint32_t>(31)) + rounding) >> shift;
    }
    using Internal::Call;
    const Expr general =
        Call::make(Int(32), "kiln_requantize", {sum, record[1], record[3]}, Call::PureExtern) + record[2];
    return Call::make(Int(32), Call::if_then_else, {all_fit, fast, general}, Call::PureIntrinsic);
}

}  // namespace kiln
