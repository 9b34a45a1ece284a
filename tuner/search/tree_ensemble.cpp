#include "tuner/search/tree_ensemble.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace kiln {
namespace {

constexpr int trees = 24;
constexpr size_t smallest_split = 3;  // rows; fewer stay together in a leaf

double uniform(std::mt19937_64 &rng) { return static_cast<double>(rng() >> 11) * 0x1p-53; }

struct Split {
    int feature = -1;
    double threshold = 0;
    double error = std::numeric_limits<double>::max();  // sum of squares around the two means
};

// Sums of the values on both sides of a threshold.
class Spread {
public:
    void add(double value) { n_++, sum_ += value, squares_ += value * value; }
    double error() const { return n_ > 0 ? squares_ - sum_ * sum_ / n_ : 0; }
    double count() const { return n_; }

private:
    double n_ = 0, sum_ = 0, squares_ = 0;
};

}  // namespace

TreeEnsemble::TreeEnsemble(std::span<const FeatureRow> rows, std::span<const double> values, uint64_t seed) {
    assert(!rows.empty() && rows.size() == values.size());
    std::mt19937_64 rng(seed);
    std::vector<size_t> members(rows.size());
    for (int t = 0; t < trees; t++) {
        std::iota(members.begin(), members.end(), size_t(0));
        grow({rows, values}, members, rng, &trees_.emplace_back());
    }
}

// Draws one random threshold for each column and takes the best of them. Answers the node's index.
int TreeEnsemble::grow(const Table &table, std::span<size_t> members, std::mt19937_64 &rng, Tree *tree) {
    const int index = static_cast<int>(tree->size());
    tree->emplace_back();
    double sum = 0;
    for (const size_t m : members) sum += table.values[m];
    (*tree)[static_cast<size_t>(index)].value = sum / static_cast<double>(members.size());
    if (members.size() < smallest_split) return index;

    Split best;
    for (size_t f = 0; f < table.rows.front().size(); f++) {
        double least = std::numeric_limits<double>::max(), most = -least;
        for (const size_t m : members) {
            least = std::min(least, table.rows[m][f]), most = std::max(most, table.rows[m][f]);
        }
        if (least == most) continue;
        const double threshold = least + (most - least) * uniform(rng);
        Spread below, above;
        for (const size_t m : members) (table.rows[m][f] <= threshold ? below : above).add(table.values[m]);
        if (below.count() == 0 || above.count() == 0) continue;
        const double error = below.error() + above.error();
        if (error < best.error) best = {static_cast<int>(f), threshold, error};
    }
    if (best.feature < 0) return index;
    const auto column = static_cast<size_t>(best.feature);
    const auto middle = std::partition(members.begin(), members.end(),
                                       [&](size_t m) { return table.rows[m][column] <= best.threshold; });
    const auto count = static_cast<size_t>(middle - members.begin());
    const int below = grow(table, members.first(count), rng, tree);
    const int above = grow(table, members.subspan(count), rng, tree);
    Node &node = (*tree)[static_cast<size_t>(index)];
    node.feature = best.feature, node.threshold = best.threshold;
    node.below = below, node.above = above;
    return index;
}

Prediction TreeEnsemble::predict(const FeatureRow &row) const {
    double sum = 0, squares = 0;
    for (const Tree &tree : trees_) {
        const Node *node = &tree.front();
        while (node->feature >= 0) {
            const bool is_below = row[static_cast<size_t>(node->feature)] <= node->threshold;
            node = &tree[static_cast<size_t>(is_below ? node->below : node->above)];
        }
        sum += node->value, squares += node->value * node->value;
    }
    const auto n = static_cast<double>(trees_.size());
    const double mean = sum / n;
    return {mean, std::sqrt(std::max(0.0, squares / n - mean * mean))};
}

}  // namespace kiln
