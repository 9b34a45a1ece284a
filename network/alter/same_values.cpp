#include "network/alter/same_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>

#include "graph/evaluate/evaluate.h"

namespace kiln::network {
namespace {

using namespace graph;

constexpr double tolerance = 1e-4;  // relative to the largest number of an output

std::vector<Numbers> drawn_inputs(const Graph &graph) {
    std::mt19937_64 random(1);
    std::vector<Numbers> inputs;
    for (const ValueId id : graph.inputs) {
        Numbers numbers{graph.values[id].form, {}};
        const auto count = static_cast<size_t>(*element_count(numbers.form.shape));
        if (is_float(numbers.form.type)) {
            std::vector<double> elements(count);
            for (double &x : elements) x = std::uniform_real_distribution(-1.0, 1.0)(random);
            numbers.elements = std::move(elements);
        } else {
            std::vector<int64_t> elements(count);
            for (int64_t &x : elements) x = int64_t(random() % 2);
            numbers.elements = std::move(elements);
        }
        inputs.push_back(round_to_type(std::move(numbers)));
    }
    return inputs;
}

bool agree(const Numbers &a, const Numbers &b) {
    const auto *left = std::get_if<std::vector<double>>(&a.elements);
    const auto *right = std::get_if<std::vector<double>>(&b.elements);
    if (!left || !right) return a.elements == b.elements;
    double largest = 0;
    for (const double x : *left) largest = std::max(largest, std::isfinite(x) ? std::abs(x) : 0);
    for (size_t i = 0; i < left->size(); i++) {
        const double x = (*left)[i], y = (*right)[i];
        if (std::isnan(x) && std::isnan(y)) continue;
        if (x != y && !(std::abs(x - y) <= tolerance * largest)) return false;
    }
    return true;
}

}  // namespace

Status check_same_values(const Graph &before, const Graph &after) {
    const std::vector<Numbers> inputs = drawn_inputs(before);
    const auto wanted = evaluate(before, inputs);
    if (!wanted) return bad_input("its values cannot be checked: " + wanted.error().message);
    const auto got = evaluate(after, inputs);
    if (!got) return bad_input("its values cannot be checked: " + got.error().message);
    for (size_t i = 0; i < wanted->size(); i++) {
        if (!agree((*wanted)[i], (*got)[i])) {
            return bad_input("output '" + before.outputs[i].name + "' has other values after it than before");
        }
    }
    return {};
}

}  // namespace kiln::network
