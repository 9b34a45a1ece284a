// A sum in i32 that lies behind packed weights of a smaller type, in pieces of that type, the lowest bits first.
#pragma once

#include <Halide.h>

#include <vector>

namespace kiln {

inline Halide::Expr sum_of_pieces(const std::vector<Halide::Expr> &pieces) {
    Halide::Expr sum = Halide::cast<uint32_t>(0);
    for (size_t i = 0; i < pieces.size(); i++) {
        const Halide::Type type = pieces[i].type();
        const Halide::Expr bits = Halide::reinterpret(type.with_code(Halide::Type::UInt), pieces[i]);
        const int shift = static_cast<int>(i) * type.bits();
        sum = sum | (Halide::cast<uint32_t>(bits) << Halide::cast<uint32_t>(shift));
    }
    return Halide::reinterpret<int32_t>(sum);
}

// Piece `which`, of `type`, in the lowest bits.
inline Halide::Expr piece_of_sum(const Halide::Expr &sum, const Halide::Expr &which, const Halide::Type &type) {
    return Halide::reinterpret<int32_t>(Halide::reinterpret<uint32_t>(sum) >>
                                        Halide::cast<uint32_t>(which * type.bits()));
}

}  // namespace kiln
