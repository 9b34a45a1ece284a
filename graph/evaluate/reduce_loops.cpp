#include "graph/evaluate/axis_groups.h"
#include "graph/evaluate/least_values.h"
#include "graph/evaluate/operator_loops.h"

namespace kiln::graph {
namespace {

template<typename T>
T start_of(Reduce::Kind kind, Element type) {
    switch (kind) {
        case Reduce::Kind::sum:
        case Reduce::Kind::mean:
            return 0;
        case Reduce::Kind::product:
            return 1;
        case Reduce::Kind::maximum:
            return least_value<T>(type);
        case Reduce::Kind::minimum:
            return largest_value<T>(type);
    }
    return 0;
}

// Sums and products of integers wrap around.
double add(double a, double b) { return a + b; }
double multiply(double a, double b) { return a * b; }
int64_t add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t multiply(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

template<typename T>
Status reduce(const Reduce &op, const Task &task) {
    const AxisGroups groups(task.shape(0), op.axes);
    const Element type = task.result->form.type;
    const auto &from = *std::get_if<std::vector<T>>(&task.inputs[0]->elements);
    auto &to = *std::get_if<std::vector<T>>(&task.result->elements);
    to.assign(groups.count(), start_of<T>(op.kind, type));
    const auto join_all = [&](auto join) {
        return groups.for_each(task.interrupted,
                               [&](int64_t element, int64_t group) { to[group] = join(to[group], from[element]); });
    };
    bool is_done = false;
    switch (op.kind) {
        case Reduce::Kind::sum:
        case Reduce::Kind::mean:
            is_done = join_all([](T a, T b) { return add(a, b); });
            break;
        case Reduce::Kind::product:
            is_done = join_all([](T a, T b) { return multiply(a, b); });
            break;
        case Reduce::Kind::maximum:
            is_done = join_all(largest<T>);
            break;
        case Reduce::Kind::minimum:
            is_done = join_all(least<T>);
            break;
    }
    if (!is_done) return interrupted_error();
    for (T &value : to) {
        if constexpr (std::is_same_v<T, int64_t>) {
            value = wrapped(type, value);
        } else if (op.kind == Reduce::Kind::mean) {
            value /= groups.group_size();
        }
    }
    return {};
}

}  // namespace

Status compute(const Reduce &op, const Task &task) {
    return is_float(task.result->form.type) ? reduce<double>(op, task) : reduce<int64_t>(op, task);
}

}  // namespace kiln::graph
