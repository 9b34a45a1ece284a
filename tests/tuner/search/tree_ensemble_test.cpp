#include "tuner/search/tree_ensemble.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kiln {
namespace {

struct Data {
    std::vector<FeatureRow> rows;
    std::vector<double> values;
};

double truth(double a, double b, double c) { return 3 * a + (b > 5 && c > 5 ? -20 : 0); }

// 200 points of three columns; the value depends on one alone and on two others together.
Data data(uint64_t seed) {
    std::mt19937_64 rng(seed);
    Data d;
    for (int i = 0; i < 200; i++) {
        FeatureRow row;
        for (int f = 0; f < 3; f++) row.push_back(static_cast<double>(rng() % 11));
        d.values.push_back(truth(row[0], row[1], row[2]));
        d.rows.push_back(std::move(row));
    }
    return d;
}

TEST(TreeEnsemble, LearnsColumnsAndWhatTheyDoTogether) {
    const Data known = data(1), asked = data(2);
    const TreeEnsemble model(known.rows, known.values, 1);
    double error = 0;
    for (size_t i = 0; i < asked.rows.size(); i++) {
        error += std::abs(model.predict(asked.rows[i]).mean - asked.values[i]);
    }
    EXPECT_LT(error / 200, 2.5);  // values span 50
}

TEST(TreeEnsemble, IsSureOfWhatItKnowsAndUnsureElsewhere) {
    const Data d = data(1);
    const TreeEnsemble model(d.rows, d.values, 1);
    double known = 0, unknown = 0;
    for (const FeatureRow &row : d.rows) known += model.predict(row).deviation;
    for (const FeatureRow &row : data(2).rows) unknown += model.predict(row).deviation;
    EXPECT_LT(known, unknown / 2);
}

TEST(TreeEnsemble, OddTables) {
    const struct {
        std::vector<FeatureRow> rows;
        std::vector<double> values;
        FeatureRow asked;
        double mean;
    } table[] = {
        {{{1}}, {7}, {100}, 7},                            // one row
        {{{1, 2}, {1, 2}, {1, 2}}, {1, 2, 3}, {5, 5}, 2},  // nothing to tell them apart by
        {{{}, {}}, {1, 3}, {}, 2},                         // no columns
        {{{0}, {0}, {0}, {9}, {9}, {9}}, {1, 1, 1, 5, 5, 5}, {0}, 1},
        {{{0}, {0}, {0}, {9}, {9}, {9}}, {1, 1, 1, 5, 5, 5}, {9}, 5},
    };
    for (const auto &row : table) {
        EXPECT_NEAR(TreeEnsemble(row.rows, row.values, 1).predict(row.asked).mean, row.mean, 1e-9);
    }
}

TEST(TreeEnsemble, IsAFunctionOfItsSeed) {
    const Data d = data(1), asked = data(2);
    const TreeEnsemble a(d.rows, d.values, 5), b(d.rows, d.values, 5), c(d.rows, d.values, 6);
    bool differs = false;
    for (const FeatureRow &row : asked.rows) {
        EXPECT_EQ(a.predict(row).mean, b.predict(row).mean);
        differs |= a.predict(row).mean != c.predict(row).mean;
    }
    EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace kiln
