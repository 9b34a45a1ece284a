// Assignments of choices to nodes, against all assignments there are.
#include "network/assignment/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "tests/test_seed.h"

namespace kiln::network {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

double least_cost(const AssignmentProblem &problem) {
    std::vector<int> choices(problem.nodes.size(), 0);
    for (double least = infinite;;) {
        least = std::min(least, cost_of(problem, choices));
        size_t i = 0;
        while (i < choices.size() && ++choices[i] == int(problem.nodes[i].size())) choices[i++] = 0;
        if (i == choices.size()) return least;
    }
}

// Whole numbers, so that sums are exact in any order and ties are frequent.
AssignmentProblem random_problem(std::mt19937_64 &random, size_t nodes, double density, int most_choices) {
    const auto number = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
    const auto cost = [&] { return number(0, 19) == 0 ? infinite : double(number(0, 9)); };
    AssignmentProblem problem;
    for (size_t i = 0; i < nodes; i++) {
        auto &costs = problem.nodes.emplace_back();
        for (int c = number(1, most_choices); c > 0; c--) costs.push_back(cost());
    }
    for (size_t a = 0; a < nodes; a++) {
        for (size_t b = 0; b < nodes; b++) {
            if (a == b || std::uniform_real_distribution()(random) >= density) continue;
            AssignmentEdge edge{int(a), int(b), {}};
            for (size_t i = 0; i < problem.nodes[a].size() * problem.nodes[b].size(); i++) edge.costs.push_back(cost());
            problem.edges.push_back(std::move(edge));
        }
    }
    return problem;
}

TEST(Assignment, CostsNoMoreThanTheBestOfAll) {
    std::mt19937_64 random(test_seed());
    const struct {
        size_t nodes;
        double density;
        int most_choices;
    } cases[] = {{1, 0, 5}, {2, 1, 4}, {5, 0.2, 4}, {8, 0.1, 3}, {8, 0.6, 3}, {12, 0.1, 2}, {12, 0.3, 2}, {12, 1, 2}};
    for (const auto &c : cases) {
        for (int i = 0; i < 40; i++) {
            const AssignmentProblem problem = random_problem(random, c.nodes, c.density, c.most_choices);
            const Assignment found = solve(problem);
            EXPECT_EQ(found.cost, least_cost(problem)) << c.nodes << " nodes, density " << c.density;
            EXPECT_EQ(found.cost, cost_of(problem, found.choices));
            EXPECT_EQ(found.lower_bound, found.cost);
        }
    }
}

TEST(Assignment, ALongChainAndATreeAreExactAtOnce) {
    std::mt19937_64 random(test_seed());
    AssignmentProblem chain, tree;
    for (int i = 0; i < 3000; i++) {
        for (AssignmentProblem *problem : {&chain, &tree}) {
            problem->nodes.push_back({double(random() % 9), double(random() % 9), double(random() % 9)});
            if (i == 0) continue;
            AssignmentEdge edge{problem == &chain ? i - 1 : (i - 1) / 3, i, {}};
            for (int c = 0; c < 9; c++) edge.costs.push_back(double(random() % 9));
            problem->edges.push_back(std::move(edge));
        }
    }
    for (const AssignmentProblem *problem : {&chain, &tree}) {
        const Assignment found = solve(*problem, 0);
        EXPECT_EQ(found.lower_bound, found.cost);
    }
}

// A step of the search looks at the neighbours of a node, not at all nodes: this took minutes when it did.
TEST(Assignment, ManyNodesThatDoNotReduceAreAnswered) {
    std::mt19937_64 random(test_seed());
    const AssignmentProblem problem = random_problem(random, 600, 0.01, 3);
    const Assignment found = solve(problem, 200'000);
    EXPECT_EQ(found.cost, cost_of(problem, found.choices));
    EXPECT_LE(found.lower_bound, found.cost);
}

// Each node has an edge to the three before it, so that none reduces: a recursion over all of them needs more than a stack.
TEST(Assignment, ALongBandThatDoesNotReduceIsAnswered) {
    std::mt19937_64 random(test_seed());
    AssignmentProblem problem;
    for (int i = 0; i < 100'000; i++) {
        problem.nodes.push_back({double(random() % 9), double(random() % 9)});
        for (int before = std::max(0, i - 3); before < i; before++) {
            AssignmentEdge edge{before, i, {}};
            for (int c = 0; c < 4; c++) edge.costs.push_back(double(random() % 9));
            problem.edges.push_back(std::move(edge));
        }
    }
    const Assignment found = solve(problem, 0);
    EXPECT_EQ(found.cost, cost_of(problem, found.choices));
    EXPECT_LE(found.lower_bound, found.cost);
}

TEST(Assignment, ABoundHoldsWhereTheSearchIsCutOff) {
    std::mt19937_64 random(test_seed());
    int cut = 0;
    for (int i = 0; i < 30; i++) {
        const AssignmentProblem problem = random_problem(random, 10, 0.8, 3);
        const double least = least_cost(problem);
        const Assignment found = solve(problem, 1);
        EXPECT_EQ(found.cost, cost_of(problem, found.choices));
        EXPECT_GE(found.cost, least);
        EXPECT_LE(found.lower_bound, least);
        cut += found.lower_bound < found.cost;
    }
    EXPECT_GT(cut, 0);
}

TEST(Assignment, NoNodesCostNothing) { EXPECT_EQ(solve({}).cost, 0); }

}  // namespace
}  // namespace kiln::network
