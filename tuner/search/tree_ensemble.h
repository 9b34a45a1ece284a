// A regression model for small tables of numbers: an ensemble of extremely randomized trees (Geurts, Ernst and
// Wehenkel, "Extremely randomized trees", 2006). It needs no scaling and no parameters to be fitted, sees interactions
// between columns, and how far its trees disagree tells what it does not know. Pure and seeded.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace kiln {

using FeatureRow = std::vector<double>;

struct Prediction {
    double mean = 0, deviation = 0;  // over the trees
};

class TreeEnsemble {
public:
    // Rows of equal length, one value each; at least one.
    TreeEnsemble(std::span<const FeatureRow> rows, std::span<const double> values, uint64_t seed);

    Prediction predict(const FeatureRow &row) const;

private:
    struct Node {
        int feature = -1;  // -1: a leaf
        double threshold = 0, value = 0;
        int below = 0, above = 0;  // children: at most the threshold, more than it
    };
    using Tree = std::vector<Node>;  // the root first

    struct Table {
        std::span<const FeatureRow> rows;
        std::span<const double> values;
    };
    static int grow(const Table &table, std::span<size_t> members, std::mt19937_64 &rng, Tree *tree);

    std::vector<Tree> trees_;
};

}  // namespace kiln
