#include "catalog/winograd_matrices.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace kiln {
namespace {

constexpr int all = -1;  // leave no root out

// Coefficients of the monic polynomial with the given roots but the one at `without`, constant term first.
std::vector<double> polynomial(const std::vector<double> &roots, int without) {
    std::vector<double> c{1};
    for (int i = 0; i < static_cast<int>(roots.size()); i++) {
        if (i == without) continue;
        c.insert(c.begin(), 0);  // times x, less the root times what it was
        for (size_t j = 0; j + 1 < c.size(); j++) c[j] -= roots[i] * c[j + 1];
    }
    for (double &v : c) {
        if (std::fabs(v) < 1e-12) v = 0;  // roots +-p cancel exactly but for rounding
    }
    return c;
}

// The best of grids of symmetric sets in a simulation in f32, by root mean square error on normal data; an even number
// does without 0, which saves work too.
std::vector<double> accurate_points(int count) {
    const double q = std::sqrt(0.5);
    const std::vector<double> sets[largest_winograd_points + 1] = {
        {},
        {0},
        {q, -q},
        {0, 1, -1},
        {0.5, -0.5, 1.25, -1.25},
        {0, q, -q, 2 * q, -2 * q},
        {0.375, -0.375, 0.875, -0.875, 1.75, -1.75},
        {0, 0.5, -0.5, 1, -1, 2, -2},
        {0.3, -0.3, 0.7, -0.7, 1.1, -1.1, 2, -2},
        {0, 0.4, -0.4, 0.8, -0.8, 1.25, -1.25, 2.5, -2.5},
    };
    return sets[count];
}

std::vector<double> simple_points(int count) {
    static constexpr double points[largest_winograd_points] = {0, 1, -1, 2, -2, 0.5, -0.5, 4, -4};
    return {points, points + count};
}

}  // namespace

WinogradMatrices winograd_matrices(int m, int r, const std::vector<double> &points) {
    WinogradMatrices w{m, r, points, {}, {}, {}};
    const int a = w.a(), infinity = a - 1;
    assert(m >= 1 && r >= 1 && static_cast<int>(points.size()) == infinity);
    w.at.assign(m, std::vector<double>(a, 0));
    w.g.assign(a, std::vector<double>(r, 0));
    for (int i = 0; i < infinity; i++) {
        double divisor = 1;  // of Lagrange's basis polynomial
        for (int l = 0; l < infinity; l++) {
            if (l != i) divisor *= points[i] - points[l];
        }
        for (int j = 0; j < m; j++) w.at[j][i] = std::pow(points[i], j);
        for (int t = 0; t < r; t++) w.g[i][t] = std::pow(points[i], t) / divisor;
        w.bt.push_back(polynomial(points, i));
        w.bt.back().push_back(0);
    }
    w.at[m - 1][infinity] = 1;
    w.g[infinity][r - 1] = 1;
    w.bt.push_back(polynomial(points, all));
    return w;
}

IntegerWinograd integer_winograd(const WinogradMatrices &matrices) {
    IntegerWinograd integer{matrices, 1};
    WinogradMatrices &w = integer.matrices;
    std::vector<int64_t> divisors;
    for (const std::vector<double> &row : w.g) {  // its first number is one by the divisor; at infinity it may be 0
        divisors.push_back(row[0] == 0 || &row == &w.g.back() ? 1 : std::llround(1 / row[0]));
        integer.scale = std::lcm(integer.scale, divisors.back());
    }
    for (size_t i = 0; i < w.g.size(); i++) {
        for (double &v : w.g[i]) v = std::round(v * double(divisors[i]));
        for (std::vector<double> &row : w.at) row[i] = std::round(row[i] * double(integer.scale / divisors[i]));
    }
    return integer;
}

std::vector<double> winograd_points(int count, int choice) {
    assert(count >= 0 && count <= largest_winograd_points && choice < winograd_point_choices(count));
    return choice == 0 ? accurate_points(count) : simple_points(count);
}

int winograd_point_choices(int count) {
    auto sorted = [](std::vector<double> points) {
        std::sort(points.begin(), points.end());
        return points;
    };
    return sorted(accurate_points(count)) == sorted(simple_points(count)) ? 1 : 2;
}

}  // namespace kiln
