#include "network/assignment/assignment.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>

namespace kiln::network {
namespace {

using Costs = std::vector<double>;

constexpr double infinite = std::numeric_limits<double>::infinity();

size_t cheapest(const Costs &costs) { return size_t(std::ranges::min_element(costs) - costs.begin()); }

// The problem while it shrinks. Edges are stored at both ends, [own choice][the neighbour's choice].
class Reduction {
public:
    explicit Reduction(const AssignmentProblem &problem)
        : costs_(problem.nodes), neighbours_(problem.nodes.size()), choices_(problem.nodes.size(), 0) {
        for (const AssignmentEdge &edge : problem.edges) add(edge.a, edge.b, edge.costs);
    }

    // Reduces what can be reduced exactly; the nodes that are left.
    std::vector<int> reduce() {
        std::vector<bool> is_gone(costs_.size(), false);
        for (bool found = true; found;) {
            found = false;
            for (size_t i = 0; i < costs_.size(); i++) {
                if (is_gone[i] || neighbours_[i].size() > 2) continue;
                fold(int(i));
                is_gone[i] = found = true;
            }
        }
        std::vector<int> left;
        for (size_t i = 0; i < costs_.size(); i++) {
            if (!is_gone[i]) left.push_back(int(i));
        }
        return left;
    }

    void choose(int node, int choice) { choices_[node] = choice; }

    // Choices of the folded nodes, the last first. Precondition: those of all nodes left are known.
    std::vector<int> unfold() {
        for (size_t i = folded_.size(); i-- > 0;) {
            const Folded &node = folded_[i];
            Costs costs = costs_[node.id];
            for (const auto &[other, edge] : node.edges) {
                const size_t width = costs_[other].size();
                for (size_t c = 0; c < costs.size(); c++) costs[c] += edge[c * width + size_t(choices_[other])];
            }
            choices_[node.id] = int(cheapest(costs));
        }
        return choices_;
    }

    // What the nodes cost that had no neighbour left, with all that was folded into them.
    double settled_cost() const {
        double cost = 0;
        for (const Folded &node : folded_) {
            if (node.edges.empty()) cost += *std::ranges::min_element(costs_[node.id]);
        }
        return cost;
    }

    const Costs &costs(int node) const { return costs_[node]; }
    const std::map<int, Costs> &neighbours(int node) const { return neighbours_[node]; }

private:
    struct Folded {
        int id;
        std::map<int, Costs> edges;
    };

    void add(int a, int b, const Costs &costs) {
        const size_t height = costs_[a].size(), width = costs_[b].size();
        Costs &there = neighbours_[a].try_emplace(b, Costs(costs.size())).first->second;
        Costs &back = neighbours_[b].try_emplace(a, Costs(costs.size())).first->second;
        for (size_t i = 0; i < height; i++) {
            for (size_t j = 0; j < width; j++) {
                there[i * width + j] += costs[i * width + j];
                back[j * height + i] += costs[i * width + j];
            }
        }
    }

    // What the node costs at least for each pair of choices of its two neighbours becomes an edge between them; with one
    // neighbour, costs of that.
    void fold(int id) {
        Folded folded{id, std::move(neighbours_[id])};
        neighbours_[id].clear();
        for (const auto &[other, edge] : folded.edges) neighbours_[other].erase(id);
        if (folded.edges.size() == 1) {
            const auto &[other, edge] = *folded.edges.begin();
            const size_t width = costs_[other].size();
            for (size_t j = 0; j < width; j++)
                costs_[other][j] += least(id, [&](size_t c) { return edge[c * width + j]; });
        } else if (folded.edges.size() == 2) {
            const auto &[a, edge_a] = *folded.edges.begin();
            const auto &[b, edge_b] = *std::next(folded.edges.begin());
            const size_t height = costs_[a].size(), width = costs_[b].size();
            Costs joined(height * width);
            for (size_t i = 0; i < height; i++) {
                for (size_t j = 0; j < width; j++) {
                    joined[i * width + j] =
                        least(id, [&](size_t c) { return edge_a[c * height + i] + edge_b[c * width + j]; });
                }
            }
            add(a, b, joined);
        }
        folded_.push_back(std::move(folded));
    }

    template<typename Further>
    double least(int id, const Further &further) const {
        double result = infinite;
        for (size_t c = 0; c < costs_[id].size(); c++) result = std::min(result, costs_[id][c] + further(c));
        return result;
    }

    std::vector<Costs> costs_;
    std::vector<std::map<int, Costs>> neighbours_;
    std::vector<int> choices_;
    std::vector<Folded> folded_;
};

// Decides the nodes of a reduced problem one after the other, those with the most neighbours first.
class BranchAndBound {
public:
    BranchAndBound(const Reduction &problem, std::vector<int> nodes, int64_t most_steps)
        : problem_(problem), nodes_(std::move(nodes)), steps_left_(most_steps) {
        std::ranges::stable_sort(nodes_, {}, [&](int node) { return -int64_t(problem.neighbours(node).size()); });
        for (size_t i = 0; i < nodes_.size(); i++) place_[nodes_[i]] = i;
        for (size_t i = 0; i < nodes_.size(); i++) {
            remaining_.push_back(problem.costs(nodes_[i]));
            later_.push_back(cheapest_to_later(i));
            add_bound(i, 1);
        }
        current_.assign(nodes_.size(), 0);
        best_.assign(nodes_.size(), 0);
    }

    void run() {
        root_bound_ = bound();
        search();
    }

    bool is_exact() const { return !was_cut_; }
    double root_bound() const { return root_bound_; }
    const std::vector<int> &nodes() const { return nodes_; }
    const std::vector<int> &best() const { return best_; }

private:
    // For each choice of a node, the cheapest of its edges to later ones.
    Costs cheapest_to_later(size_t i) const {
        Costs costs(remaining_[i].size());
        for (const auto &[other, edge] : problem_.neighbours(nodes_[i])) {
            if (place_.at(other) < i) continue;
            const size_t width = edge.size() / costs.size();
            for (size_t c = 0; c < costs.size(); c++) {
                const auto row = edge.begin() + ptrdiff_t(c * width);
                costs[c] += *std::min_element(row, row + ptrdiff_t(width));
            }
        }
        return costs;
    }

    // What the nodes that are not decided yet cost at least: each its cheapest choice with the cheapest of its edges to later ones.
    double bound() const { return impossible_ > 0 ? infinite : bound_; }

    // A node's part of it, which changes with its neighbours alone. Added with a sign of 1, taken back with -1.
    void add_bound(size_t i, int sign) {
        double least = infinite;
        for (size_t c = 0; c < remaining_[i].size(); c++) least = std::min(least, remaining_[i][c] + later_[i][c]);
        if (least == infinite) {
            impossible_ += sign;
        } else {
            bound_ += sign * least;
        }
    }

    // A node that is decided for one choice after the other.
    struct Decision {
        double spent = 0;         // by the nodes before
        std::vector<int> order;   // of its choices, the cheapest first
        size_t next = 0;          // in the order
        double bound_before = 0;  // this and what follows: as it was before the choice that is tried
        int impossible_before = 0;
        std::vector<std::pair<size_t, Costs>> costs_before = {};
    };

    // Depth first without recursion, since as many nodes may be left as a network has.
    void search() {
        std::vector<Decision> open;
        if (goes_on(0, 0)) open.push_back(decision(0, 0));
        while (!open.empty()) {
            const size_t depth = open.size() - 1;
            Decision &now = open.back();
            if (now.next > 0) take_back(&now);
            if (now.next == now.order.size()) {
                open.pop_back();
                continue;
            }
            const int choice = now.order[now.next++];
            current_[depth] = choice;
            add_bound(depth, -1);
            now.costs_before = settle(depth, size_t(choice));
            const double spent = now.spent + remaining_[depth][size_t(choice)];
            if (goes_on(depth + 1, spent)) open.push_back(decision(depth + 1, spent));
        }
    }

    // Whether the node at this depth is worth a decision. Behind the last one all are decided, and the cheapest decisions stay.
    bool goes_on(size_t depth, double spent) {
        if (depth == nodes_.size()) {
            if (has_best_ && spent >= best_cost_) return false;
            has_best_ = true;
            best_cost_ = spent;
            best_ = current_;
            return false;
        }
        if (has_best_ && spent + bound() >= best_cost_) return false;
        if (has_best_ && steps_left_-- <= 0) {
            was_cut_ = true;
            return false;
        }
        return true;
    }

    Decision decision(size_t depth, double spent) const {
        Decision result{.spent = spent,
                        .order = std::vector<int>(remaining_[depth].size()),
                        .bound_before = bound_,
                        .impossible_before = impossible_};
        std::iota(result.order.begin(), result.order.end(), 0);
        std::ranges::stable_sort(result.order, {}, [&](int choice) { return remaining_[depth][size_t(choice)]; });
        return result;
    }

    void take_back(Decision *decision) {
        for (auto &[place, costs] : decision->costs_before) remaining_[place] = std::move(costs);
        decision->costs_before.clear();
        bound_ = decision->bound_before, impossible_ = decision->impossible_before;
    }

    // Costs of edges to a decided node become costs of the other node. Answers these costs as they were.
    std::vector<std::pair<size_t, Costs>> settle(size_t depth, size_t choice) {
        std::vector<std::pair<size_t, Costs>> before;
        for (const auto &[other, edge] : problem_.neighbours(nodes_[depth])) {
            const size_t place = place_.at(other);
            if (place < depth) continue;
            Costs &costs = remaining_[place];
            before.emplace_back(place, costs);
            add_bound(place, -1);
            for (size_t c = 0; c < costs.size(); c++) costs[c] += edge[choice * costs.size() + c];
            add_bound(place, 1);
        }
        return before;
    }

    const Reduction &problem_;
    std::vector<int> nodes_;
    std::map<int, size_t> place_;   // by node: where it stands in the order of decisions
    std::vector<Costs> remaining_;  // of nodes that are not decided yet, with their edges to those that are
    std::vector<Costs> later_;      // cheapest_to_later()
    double bound_ = 0;              // of the nodes that have a possible choice
    int impossible_ = 0;            // how many have none
    std::vector<int> current_, best_;
    bool has_best_ = false, was_cut_ = false;
    double best_cost_ = infinite, root_bound_ = 0;
    int64_t steps_left_;
};

}  // namespace

double cost_of(const AssignmentProblem &problem, const std::vector<int> &choices) {
    double cost = 0;
    for (size_t i = 0; i < problem.nodes.size(); i++) cost += problem.nodes[i][size_t(choices[i])];
    for (const AssignmentEdge &edge : problem.edges) {
        const size_t width = problem.nodes[edge.b].size();
        cost += edge.costs[size_t(choices[edge.a]) * width + size_t(choices[edge.b])];
    }
    return cost;
}

Assignment solve(const AssignmentProblem &problem, int64_t most_steps) {
    Reduction reduction(problem);
    BranchAndBound search(reduction, reduction.reduce(), most_steps);
    search.run();
    for (size_t i = 0; i < search.nodes().size(); i++) reduction.choose(search.nodes()[i], search.best()[i]);
    Assignment result;
    result.choices = reduction.unfold();
    result.cost = cost_of(problem, result.choices);
    result.lower_bound = search.is_exact() ? result.cost : reduction.settled_cost() + search.root_bound();
    return result;
}

}  // namespace kiln::network
