#include "network/alter/same_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "graph/evaluate/evaluate.h"

namespace kiln::network {
namespace {

using namespace graph;

constexpr double tolerance = 1e-4;  // relative to the largest number of an output

// Drawn anew for each value, by its name, so that two graphs get the same.
Numbers drawn(const Value &value) {
    std::mt19937_64 random(std::hash<std::string>()(value.name));
    Numbers numbers{value.form, {}};
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
    return round_to_type(std::move(numbers));
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

// The part of a graph that computes values, by their names, from others and from its inputs.
Graph part_of(const Graph &graph, const std::set<std::string> &results, const std::set<std::string> &from) {
    Graph part = graph;
    part.outputs.clear();
    std::erase_if(part.nodes, [&](const Node &node) { return from.contains(graph.values[node.output].name); });
    for (ValueId id = 0; id < std::ssize(graph.values); id++) {
        const Value &value = graph.values[id];
        const bool is_input = std::ranges::find(graph.inputs, id) != graph.inputs.end();
        if (from.contains(value.name) && !is_input && !value.constant) part.inputs.push_back(id);
        if (results.contains(value.name)) part.outputs.push_back({value.name, id});
    }
    return without_dead_values(part);
}

// What the patch reads of the graph, without what depends on the rest of it.
std::set<std::string> borders(const Graph &graph, const Patch &patch) {
    std::set<ValueId> read, replaced;
    for (const auto &[value, by] : patch.replaced()) replaced.insert(value);
    const auto first = static_cast<ValueId>(graph.values.size());
    for (const Patch::Made &made : patch.made()) {
        for (const ValueId id : made.inputs) {
            if (id < first && !graph.values[id].constant) read.insert(id);
        }
    }
    for (const auto &[value, by] : patch.replaced()) {
        if (by < first && !graph.values[by].constant) read.insert(by);
    }
    std::vector<bool> depends(graph.values.size(), false);  // on one that is read, or is one that is replaced
    std::set<std::string> names;
    for (const ValueId id : read) {
        if (!replaced.contains(id)) names.insert(graph.values[id].name);
    }
    for (const Node &node : graph.nodes) {
        const bool does =
            std::ranges::any_of(node.inputs, [&](ValueId id) { return depends[id] || read.contains(id); });
        depends[node.output] = does;
        if (does) names.erase(graph.values[node.output].name);
    }
    return names;
}

Status compare(const Graph &before, const Graph &after) {
    const auto inputs_of = [](const Graph &graph) {
        std::vector<Numbers> inputs;
        for (const ValueId id : graph.inputs) inputs.push_back(drawn(graph.values[id]));
        return inputs;
    };
    const auto wanted = evaluate(before, inputs_of(before));
    if (!wanted) return bad_input("its values cannot be checked: " + wanted.error().message);
    const auto got = evaluate(after, inputs_of(after));
    if (!got) return bad_input("its values cannot be checked: " + got.error().message);
    std::map<std::string, const Numbers *> by_name;
    for (size_t i = 0; i < got->size(); i++) by_name[after.outputs[i].name] = &(*got)[i];
    for (size_t i = 0; i < wanted->size(); i++) {
        const auto found = by_name.find(before.outputs[i].name);
        if (found == by_name.end()) continue;
        if (!agree((*wanted)[i], *found->second)) {
            return bad_input("value '" + before.outputs[i].name + "' has other values after it than before");
        }
    }
    return {};
}

}  // namespace

Status check_same_values(const Graph &before, const Patch &patch, const Graph &after) {
    std::set<std::string> results;
    for (const auto &[value, by] : patch.replaced()) results.insert(before.values[value].name);
    // A value that is replaced by another one of the graph has no name afterwards.
    const auto has_name = [&](const std::string &name) {
        return std::ranges::any_of(after.values, [&](const Value &value) { return value.name == name; });
    };
    if (std::ranges::all_of(results, has_name)) {
        const std::set<std::string> from = borders(before, patch);
        if (compare(part_of(before, results, from), part_of(after, results, from))) return {};
    }
    return compare(before, after);
}

}  // namespace kiln::network
