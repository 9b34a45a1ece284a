// Loads of vectors of which some lanes are not there.
#pragma once

#include <Halide.h>

#include <cstdint>

#include "schedules/apply/extent.h"

namespace kiln {

// Becomes a masked load: of lanes where `inside` does not hold, memory is not touched and the value is not known.
inline Halide::Expr masked_load(const Halide::Expr &inside, const Halide::Expr &load) {
    return Halide::Internal::Call::make(load.type(), Halide::Internal::Call::if_then_else, {inside, load},
                                        Halide::Internal::Call::PureIntrinsic);
}

// An index that a mask keeps from 0 to `count` - 1.
inline Halide::Expr promised(const Halide::Expr &index, int64_t count) {
    return Halide::Internal::promise_clamped(index, 0, extent(count - 1));
}

// A buffer with the channels first, whose vectors may reach behind the last one.
template<typename Input>
struct MaskedChannels {
    const Input &input;
    int64_t channels;

    template<typename... Indices>
    Halide::Expr operator()(const Halide::Expr &channel, const Indices &...indices) const {
        return masked_load(Halide::likely(channel < extent(channels)), input(promised(channel, channels), indices...));
    }
};

}  // namespace kiln
