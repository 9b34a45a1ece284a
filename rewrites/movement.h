// Data movement (space_to_depth, depth_to_space, layout_transform) as one permutation of digits: what generators and
// spaces work with, whatever the operation.
//
// Every dimension of the result in memory is cut where the operand's memory makes a jump, so that each piece, a digit,
// has one stride in both. NHWC -> space to depth by 2x2 is a permutation of [h, b_h, w, (b_w, c)] to [h, w, b_h,
// (b_w, c)]. Digits that are neighbours on both sides are merged: NCHW -> NHWC is a matrix, whatever the rank. This is
// the form of tensor transposition (P. Springer, T. Su and P. Bientinesi, "HPTT: a high-performance tensor
// transposition C++ library", 2017).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/signature.h"

namespace kiln {

struct MovedDigit {
    int64_t extent = 1;
    int64_t read_stride = 0;     // in elements
    int64_t written_stride = 1;  // dense: the product of the extents further inside
    // Values of it that exist, from 0 on, where that does not depend on other digits; the others are zeros.
    int64_t valid = 1;
    bool operator==(const MovedDigit &) const = default;
};

// An element exists where the sum of digit * step is less than `extent`; else it is zero. One for every axis of which
// ragged blocks leave a rest that several digits tell.
struct MovedLimit {
    std::vector<int64_t> steps;  // one a digit, 0 where it says nothing
    int64_t extent = 0;
    bool operator==(const MovedLimit &) const = default;
};

struct Movement {
    int element_bytes = 4;
    int64_t read_elements = 0, written_elements = 0;
    // Digits of the result, outermost first. Where `is_regular` is false, blocks of both sides do not divide each other: the
    // digits are the result's dimensions as stored, and only their extents and written strides mean anything.
    bool is_regular = true;
    std::vector<MovedDigit> digits;
    std::vector<MovedLimit> limits;
};

// A piece of an axis of the result: component = (coordinate / place) % extent, and adds component * unit to the
// coordinate on `axis` of the operand. Outermost first; the outermost takes all that is left.
struct MovedComponent {
    int axis = 0;
    int64_t unit = 1, place = 1, extent = 1;
};

// For every axis of the result. Precondition: valid data movement.
std::vector<std::vector<MovedComponent>> moved_components(const Workload &workload);

Movement movement(const Workload &workload);

// The digit along which the operand's elements are neighbours; -1 where there is none.
int read_neighbours(const Movement &m);

}  // namespace kiln
