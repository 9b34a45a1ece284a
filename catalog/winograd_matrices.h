// Matrices of Winograd convolution F(m, r): m outputs of a correlation with r taps from m + r - 1 products,
//   y = at [ (g k) . (bt d) ],  y[j] = sum over t of k[t] * d[j + t],  d of a = m + r - 1 inputs,
// and in two dimensions Y = at_y [ (g_y K g_x^T) . (bt_y D bt_x^T) ] at_x^T.
//
// They come from interpolation (Toom 1963, Cook 1966): the product of two polynomials is known from its values at a
// points; its transpose is a correlation (Winograd 1980; Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks", 2016). a - 1 points are numbers, the last one is infinity: the product's leading coefficient. Which
// numbers is free, and decides how much is lost to rounding (Barabasz et al., "Error Analysis and Improving the
// Accuracy of Winograd Convolution for Deep Neural Networks", 2020).
//
// Std only.
#pragma once

#include <cstdint>
#include <vector>

namespace kiln {

struct WinogradMatrices {
    int m = 1, r = 1;
    std::vector<double> points;           // a - 1 different numbers, in order of the rows; infinity is the last row
    std::vector<std::vector<double>> at;  // m x a, output transform
    std::vector<std::vector<double>> g;   // a x r, filter transform; carries all the divisors
    std::vector<std::vector<double>> bt;  // a x a, input transform; the leading coefficient of each row is 1

    int a() const { return m + r - 1; }
};

// Precondition: m, r >= 1 and m + r - 2 different points. F(1, 1) has no points and is the identity.
WinogradMatrices winograd_matrices(int m, int r, const std::vector<double> &points);

// The same in integers: scale * y = at [ (g k) . (bt d) ], with the divisors of g in at. Precondition: points are integers.
struct IntegerWinograd {
    WinogradMatrices matrices;
    int64_t scale = 1;
};
IntegerWinograd integer_winograd(const WinogradMatrices &matrices);

inline constexpr int largest_winograd_points = 9;

// Sets of `count` points, count in [0, largest_winograd_points], choice in [0, winograd_point_choices(count)):
//   0   small rounding errors, by measurement: 0, +-1/sqrt 2, +-sqrt 2 for 5
//   1   small integers and their reciprocals: 0, 1, -1, 2, -2, 1/2, -1/2, 4, -4
// Neighbours +p, -p share half of the work of a transform.
std::vector<double> winograd_points(int count, int choice);
int winograd_point_choices(int count);  // 1 where both choices are the same set

}  // namespace kiln
