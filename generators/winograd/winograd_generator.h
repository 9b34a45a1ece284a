// What the generators of Winograd convolutions and of their packed weights share: the matrices.
#pragma once

#include <Halide.h>

#include <algorithm>
#include <vector>

#include "catalog/winograd/winograd_algorithm.h"
#include "catalog/winograd_matrices.h"
#include "generators/winograd/product_generator.h"
#include "rewrites/panels.h"

namespace kiln {

template<typename Derived>
class WinogradGenerator : public ProductGenerator<Derived> {
protected:
    // `parts`: channels that a lane multiplies at once and adds up.
    void read_facts(int parts = 1) {
        this->read_convolution();
        this->take_facts(winograd_facts(gathered(this->loops), winograd_m(this->candidate.algorithm),
                                        this->target_of_kiln, Core{}, parts));
        this->loops = this->facts.shape;  // rows may have been merged
        along_x = matrices(0), along_y = matrices(1);
        ax = along_x.a(), ay = along_y.a();
    }

    WinogradMatrices along_x, along_y;
    int ax = 1, ay = 1;

private:
    WinogradMatrices matrices(int d) const {
        const int m = extent(this->facts.m[d]), r = extent(this->loops.kernel[d]), count = m + r - 2;
        const int choice = std::min(extent(this->knobs.points), winograd_point_choices(count) - 1);
        return winograd_matrices(m, r, winograd_points(count, choice));
    }
};

}  // namespace kiln
