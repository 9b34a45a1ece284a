// Which of a few ways each node of a graph is computed in, so that nodes and the edges between them cost least together: a
// partitioned Boolean quadratic problem (PBQP). Pure.
//
// Nodes of degree 0, 1 and 2 are reduced exactly (R0, RI and RII of Scholz and Eckstein, "Register Allocation for Irregular
// Architectures", 2002). A branch and bound decides what remains, exactly unless it is too large; then the answer is the best
// one found, and the lower bound says how far from the least cost it can be.
#pragma once

#include <cstdint>
#include <vector>

namespace kiln::network {

struct AssignmentEdge {
    int a = 0, b = 0;           // nodes; not the same
    std::vector<double> costs;  // [choice of a][choice of b]
};

// Costs are at least 0, in any unit; infinity stands for what cannot be. Each node has a choice.
struct AssignmentProblem {
    std::vector<std::vector<double>> nodes;  // costs by choice
    std::vector<AssignmentEdge> edges;       // several between two nodes add up
};

struct Assignment {
    std::vector<int> choices;  // by node
    double cost = 0;
    double lower_bound = 0;  // no assignment costs less; `cost` where that is known to be the least
};

// `most_steps` limits the branch and bound. With infinite costs the answer may have a cost of infinity.
Assignment solve(const AssignmentProblem &problem, int64_t most_steps = 1'000'000);

double cost_of(const AssignmentProblem &problem, const std::vector<int> &choices);

}  // namespace kiln::network
