// The matrices in double against the definition, and the expressions against the plain product of matrix and vector.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "catalog/winograd_matrices.h"
#include "generators/winograd/transform.h"
#include "tests/test_seed.h"

namespace kiln {
namespace {

using Rows = std::vector<std::vector<double>>;

std::vector<double> product(const Rows &rows, const std::vector<double> &v) {
    std::vector<double> result;
    for (const auto &row : rows) {
        double sum = 0;
        for (size_t j = 0; j < v.size(); j++) sum += row[j] * v[j];
        result.push_back(sum);
    }
    return result;
}

class Winograd : public testing::Test {
protected:
    std::vector<double> draw(int count) {
        std::vector<double> v(count);
        for (double &x : v) x = normal_(rng_);
        return v;
    }

    // Every (m, r) with at most ten products, and every choice of points.
    template<typename Check>
    void for_every_transform(const Check &check) {
        for (int m = 1; m <= 10; m++) {
            for (int r = 1; m + r - 1 <= largest_winograd_points + 1; r++) {
                for (int choice = 0; choice < winograd_point_choices(m + r - 2); choice++) {
                    SCOPED_TRACE(testing::Message() << "F(" << m << ", " << r << "), points " << choice);
                    check(winograd_matrices(m, r, winograd_points(m + r - 2, choice)));
                }
            }
        }
    }

private:
    std::mt19937_64 rng_{test_seed()};
    std::normal_distribution<double> normal_;
};

TEST_F(Winograd, MatricesComputeTheCorrelation) {
    for_every_transform([&](const WinogradMatrices &w) {
        const auto d = draw(w.a()), k = draw(w.r);
        auto products = product(w.bt, d);
        const auto filter = product(w.g, k);
        for (int i = 0; i < w.a(); i++) products[i] *= filter[i];
        const auto y = product(w.at, products);
        ASSERT_EQ(y.size(), static_cast<size_t>(w.m));
        for (int j = 0; j < w.m; j++) {
            double expected = 0;
            for (int t = 0; t < w.r; t++) expected += k[t] * d[j + t];
            EXPECT_NEAR(y[j], expected, 1e-9) << "output " << j;
        }
    });
}

TEST_F(Winograd, PointsDiffer) {
    for (int count = 0; count <= largest_winograd_points; count++) {
        for (int choice = 0; choice < winograd_point_choices(count); choice++) {
            const auto points = winograd_points(count, choice);
            ASSERT_EQ(points.size(), static_cast<size_t>(count));
            for (int i = 0; i < count; i++) {
                for (int j = 0; j < i; j++) EXPECT_GT(std::fabs(points[i] - points[j]), 0.1) << count << " " << choice;
            }
        }
    }
}

// Halide folds constants, so nothing has to be compiled.
void expect_same_product(const Rows &rows, const std::vector<double> &values) {
    const auto transformed = winograd_transform(rows, {values.begin(), values.end()});
    const auto expected = product(rows, values);
    ASSERT_EQ(transformed.size(), expected.size());
    for (size_t i = 0; i < expected.size(); i++) {
        const auto folded = Halide::Internal::as_const_float(Halide::Internal::simplify(transformed[i]));
        ASSERT_TRUE(folded) << transformed[i];
        EXPECT_NEAR(*folded, expected[i], 1e-9) << "row " << i;
    }
}

// Points are part of what the transforms compute: another set needs another choice, or recorded candidates and packed
// weights would mean something else.
TEST_F(Winograd, PointsAreFrozen) {
    const double q = std::sqrt(0.5);
    EXPECT_EQ(winograd_points(2, 0), (std::vector<double>{q, -q}));
    EXPECT_EQ(winograd_points(3, 0), (std::vector<double>{0, 1, -1}));
    EXPECT_EQ(winograd_points(4, 0), (std::vector<double>{0.5, -0.5, 1.25, -1.25}));
    EXPECT_EQ(winograd_points(5, 0), (std::vector<double>{0, q, -q, 2 * q, -2 * q}));
    EXPECT_EQ(winograd_points(6, 0), (std::vector<double>{0.375, -0.375, 0.875, -0.875, 1.75, -1.75}));
    EXPECT_EQ(winograd_points(7, 0), (std::vector<double>{0, 0.5, -0.5, 1, -1, 2, -2}));
    EXPECT_EQ(winograd_points(8, 0), (std::vector<double>{0.3, -0.3, 0.7, -0.7, 1.1, -1.1, 2, -2}));
    EXPECT_EQ(winograd_points(9, 0), (std::vector<double>{0, 0.4, -0.4, 0.8, -0.8, 1.25, -1.25, 2.5, -2.5}));
    for (int count : {2, 4, 5, 6, 8, 9}) {
        const std::vector<double> simple{0, 1, -1, 2, -2, 0.5, -0.5, 4, -4};
        EXPECT_EQ(winograd_points(count, 1), std::vector<double>(simple.begin(), simple.begin() + count));
    }
}

TEST_F(Winograd, ExpressionsAreTheMatrixProduct) {
    for_every_transform([&](const WinogradMatrices &w) {
        expect_same_product(w.bt, draw(w.a()));
        expect_same_product(w.g, draw(w.r));
        expect_same_product(w.at, draw(w.a()));
    });
}

// F(2, 3) as it is printed everywhere, its fractions moved to the output; and the product of integers for all points that are some.
TEST(WinogradMatrices, InIntegers) {
    const IntegerWinograd f23 = integer_winograd(winograd_matrices(2, 3, winograd_points(3, 0)));
    EXPECT_EQ(f23.scale, 2);
    EXPECT_EQ(f23.matrices.g, (std::vector<std::vector<double>>{{1, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 1}}));
    EXPECT_EQ(f23.matrices.at, (std::vector<std::vector<double>>{{-2, 1, 1, 0}, {0, 1, -1, 2}}));
    const auto dot = [](const std::vector<double> &a, const std::vector<double> &b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    for (int r = 1; r <= 4; r++) {
        for (int m = 1; m + r - 2 <= 5; m++) {
            const int count = m + r - 2;
            const auto w =
                integer_winograd(winograd_matrices(m, r, winograd_points(count, winograd_point_choices(count) - 1)));
            std::vector<double> d, k, products;
            for (int i = 0; i < m + r - 1; i++) d.push_back((7 * i * i + 3) % 11 - 5);
            for (int t = 0; t < r; t++) k.push_back((5 * t + 2) % 7 - 3);
            for (int i = 0; i < m + r - 1; i++)
                products.push_back(dot(w.matrices.g[size_t(i)], k) * dot(w.matrices.bt[size_t(i)], d));
            for (int j = 0; j < m; j++) {
                double y = 0;
                for (int t = 0; t < r; t++) y += k[size_t(t)] * d[size_t(j + t)];
                EXPECT_EQ(dot(w.matrices.at[size_t(j)], products), double(w.scale) * y) << m << " " << r << " " << j;
            }
        }
    }
}

TEST(WinogradTransform, AnyMatrix) {
    const std::vector<double> values{0.5, 7, -3};
    expect_same_product({{1, 2, 3}, {1, -2, 3}, {0, 0, 0}, {-1, 0, 0}, {0, -4, 0}}, values);
    expect_same_product({{1, 1, 2}, {-1, 1, 2}, {3, -3, 2}, {2, 2, -1}}, values);
}

// Rows of +p and -p share their halves there, too, and no factor of them is a fraction.
TEST(WinogradTransform, MatricesOfIntegers) {
    for (int r = 1; r <= 4; r++) {
        for (int m = 1; m + r - 2 <= 5; m++) {
            const int count = m + r - 2;
            const WinogradMatrices w =
                integer_winograd(winograd_matrices(m, r, winograd_points(count, winograd_point_choices(count) - 1)))
                    .matrices;
            for (const Rows *rows : {&w.bt, &w.g, &w.at}) {
                std::vector<double> values;
                std::vector<Halide::Expr> exprs;
                for (size_t i = 0; i < rows->front().size(); i++) {
                    values.push_back(double(7 * i * i % 11) - 5);
                    exprs.push_back(Halide::cast<int16_t>(int(values.back())));
                }
                const std::vector<double> expected = product(*rows, values);
                const auto got = winograd_transform(*rows, exprs);
                for (size_t i = 0; i < got.size(); i++) {
                    const auto value = Halide::Internal::as_const_int(Halide::Internal::simplify(got[i]));
                    ASSERT_TRUE(value) << "F(" << m << ", " << r << ")";
                    EXPECT_EQ(double(*value), expected[i]) << "F(" << m << ", " << r << ")";
                }
            }
        }
    }
}

// Counted by hand: rows of +p and -p share their halves, and neither 0 nor +-1 costs a multiplication.
TEST(WinogradTransform, SharesAndSkips) {
    struct Row {
        int m, r, choice, input, output;
    };
    for (const Row &row : {Row{1, 1, 0, 0, 0}, Row{2, 3, 0, 4, 4}, Row{4, 3, 0, 12, 12}}) {
        const auto w = winograd_matrices(row.m, row.r, winograd_points(row.m + row.r - 2, row.choice));
        EXPECT_EQ(winograd_transform_operations(w.bt), row.input) << row.m;
        EXPECT_EQ(winograd_transform_operations(w.at), row.output) << row.m;
    }
}

}  // namespace
}  // namespace kiln
