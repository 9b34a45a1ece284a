#include <cmath>

#include "graph/evaluate/axis_groups.h"
#include "graph/evaluate/least_values.h"
#include "graph/evaluate/operator_loops.h"

namespace kiln::graph {
namespace {

struct Normalization {
    const Normalize &op;
    const Task &task;
    AxisGroups groups;
    const std::vector<double> &x;
    std::vector<double> &y;

    Normalization(const Normalize &o, const Task &t)
        : op(o), task(t), groups(t.shape(0), o.axes), x(t.floats(0)), y(t.float_result()) {}

    template<typename F>
    bool for_each(F f) const {
        return groups.for_each(task.interrupted, f);
    }

    // Subtracts the largest element, so that no exp() overflows.
    bool softmax() {
        std::vector<double> peak(groups.count(), least_value<double>(Element::f64)), sum(groups.count(), 0);
        const bool is_log = op.kind == Normalize::Kind::log_softmax;
        return for_each([&](int64_t i, int64_t g) { peak[g] = largest(peak[g], x[i]); }) &&
               for_each([&](int64_t i, int64_t g) {
                   y[i] = std::exp(x[i] - peak[g]);
                   sum[g] += y[i];
               }) &&
               for_each(
                   [&](int64_t i, int64_t g) { y[i] = is_log ? x[i] - peak[g] - std::log(sum[g]) : y[i] / sum[g]; });
    }

    bool mean_variance() {
        std::vector<double> mean(groups.count(), 0), scale(groups.count(), 0);
        if (!for_each([&](int64_t i, int64_t g) { mean[g] += x[i]; })) return false;
        for (double &m : mean) m /= groups.group_size();
        if (!for_each([&](int64_t i, int64_t g) { scale[g] += (x[i] - mean[g]) * (x[i] - mean[g]); })) return false;
        for (double &s : scale) s = std::sqrt(s / groups.group_size() + op.epsilon);
        return for_each([&](int64_t i, int64_t g) { y[i] = (x[i] - mean[g]) / scale[g]; });
    }
};

}  // namespace

Status compute(const Normalize &op, const Task &task) {
    Normalization normalization(op, task);
    const bool is_done =
        op.kind == Normalize::Kind::mean_variance ? normalization.mean_variance() : normalization.softmax();
    return is_done ? Status() : interrupted_error();
}

}  // namespace kiln::graph
