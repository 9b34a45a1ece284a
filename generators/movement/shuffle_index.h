// Indices of shuffles as LLVM should see them and Halide should not.
//
// A shuffle is a load from a stage in registers by an index that is a constant in every lane. Where Halide sees that
// the index has a pattern, it loads windows that straddle the vectors which were stored, and that keeps all of them in
// memory. So the index is written in a way that Halide does not see through. LLVM does, and makes shuffles of it.
#pragma once

#include <Halide.h>

#include <bit>

namespace kiln {

// `index`, as the mean of itself and itself.
inline Halide::Expr hidden_index(const Halide::Expr &index) {
    const Halide::Expr half = Halide::cast<uint16_t>(index);
    return Halide::cast<int>(Halide::halving_add(half, half));
}

// Quotients and remainders of places in a tile. Where whole rows are interleaved by 2 or 4, Halide would compute even
// and odd places apart, from such windows; there the quotient is made of means with 0.
struct ShuffleDivision {
    bool is_hidden = false;

    Halide::Expr quotient(Halide::Expr p, int by) const {
        if (!hides(by)) return p / by;
        p = Halide::cast<uint16_t>(p);
        for (; by > 1; by /= 2) p = Halide::halving_add(p, Halide::cast<uint16_t>(0));
        return Halide::cast<int>(p);
    }
    Halide::Expr remainder(const Halide::Expr &p, int by) const {
        return hides(by) ? p - quotient(p, by) * by : p % by;
    }

private:
    bool hides(int by) const { return is_hidden && std::has_single_bit(static_cast<unsigned>(by)); }
};

}  // namespace kiln
