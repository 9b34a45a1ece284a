// Workloads with attributes drawn over the whole range, for all tests that draw some. What is drawn follows from the
// seed alone.
#pragma once

#include <cstdint>

#include "schedules/space.h"
#include "workload/workload.h"

namespace kiln {

// How large they may be. As it is: small enough for the reference loops, and to be built and run.
struct DrawnSizes {
    int64_t side = 20;  // of an image; of a volume two fifths
    int64_t channels = 40;
    int64_t flops = 20'000'000, elements = 200'000;  // elements of the result
    int64_t many_channels = 200;                     // of some inputs, from 128: rewrites for long sums
};

// Convolutions and both gradients.
class ConvolutionDrawer {
public:
    explicit ConvolutionDrawer(uint64_t seed, const DrawnSizes &sizes = {}) : rng_(seed), sizes_(sizes) {}

    Workload next();            // valid, of floating point; the result may be empty
    Workload next_quantized();  // valid, forward; the result may be empty
    Workload next_separable();  // valid, an input that is not NCHW, up to 64 taps; something to compute
    Workload next_strided();    // valid, with windows that Winograd takes: small ones, padded by less than a window

    int64_t draw(int64_t lo, int64_t hi) { return lo + int64_t(rng_() % uint64_t(hi - lo + 1)); }
    bool rarely() { return draw(0, 3) == 0; }
    Rng &rng() { return rng_; }

private:
    // The whole range, but small numbers and 1 more often: that is where algorithms differ.
    int64_t attribute() { return rarely() ? draw(1, 13) : rarely() ? draw(1, 3) : 1; }
    int64_t count(int64_t most) { return draw(0, 1) ? draw(1, 8) : draw(1, most); }
    ActivationLayout layout();
    EpilogueStep activation();
    void add_epilogue(Workload *w);
    Workload workload();

    Rng rng_;
    DrawnSizes sizes_;
};

// A transform of Winograd's, which may not be valid: tiles that leave nothing of the image, a position twice.
Workload drawn_transform(Rng &rng);

// A layout transform, space-to-depth or depth-to-space; valid.
Workload drawn_movement(Rng &rng);

}  // namespace kiln
