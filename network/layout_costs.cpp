#include "network/layout_costs.h"

#include <algorithm>
#include <cmath>

#include "graph/workloads/node_workloads.h"
#include "network/node_nests.h"

namespace kiln::network {
namespace {

using namespace graph;

// Rates of a core of a few GHz, bytes read and written together; they choose where nothing was measured. Copies are the most
// exact, since nobody measures them: 42 bytes a ns in DenseNet-121 and 54 in SqueezeNet on a Zen 4.
constexpr double flops_a_ns = 50, bytes_a_ns = 16, copied_bytes_a_ns = 40, moved_bytes_a_ns = 8, call_ns = 200;

constexpr double changes_order = 1.02;  // times as long
// Where there are blocks, channels-first is worth a measurement only for what it saves beside them: it is rarely as fast.
constexpr double channels_first = 1.05;
constexpr double not_used = std::numeric_limits<double>::infinity();

bool is_channels_first(const Order &order, const Shape &shape) {
    return layout_of(order, shape).kind == ActivationLayout::Kind::nchw;
}

// No kernel: the result has the bytes of its input, or its inputs are parts of it.
bool is_free(const Operator &op, const std::vector<Stored> &inputs, const Stored &result) {
    if (std::holds_alternative<Concat>(op)) return joins_bytes(op, inputs, result);
    return inputs.size() == 1 && (keeps_bytes(op, inputs[0], result) || offset_of_part(op, inputs[0], result));
}

}  // namespace

std::vector<double> LayoutMemory::of_node(const std::string &name, const Question &question,
                                          const std::function<std::vector<double>()> &compute) {
    std::vector<Answer> &answers = nodes_[name];
    for (const Answer &answer : answers) {
        if (answer.question == question) return answer.costs;
    }
    answers.push_back({question, compute()});
    return answers.back().costs;
}

double LayoutMemory::of_move(const Move &move, const std::function<double()> &compute) {
    std::vector<std::pair<Move, double>> &answers = moves_[move.form.shape];
    for (const auto &[known, cost] : answers) {
        if (known == move) return cost;
    }
    answers.emplace_back(move, compute());
    return answers.back().second;
}

Result<Workload> workload_in(const Convolution &op, const TypedShape &x, const TypedShape &weights, const Order &input,
                             const Order &output) {
    Result<Workload> workload = convolution_workload(op, x, weights);
    if (!workload) return workload;
    workload->input_layout = layout_of(input, x.shape);
    const std::vector<int64_t> extents = output_shape(*workload);
    Shape shape = extents;  // N, spatial..., C as N, C, spatial...
    std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
    workload->output_layout = layout_of(output, shape);
    return workload;
}

std::optional<double> LayoutCosts::time_of(const Workload &workload) {
    const auto [known, is_new] = known_.emplace(key(workload), std::nullopt);
    if (is_new) {
        if (prices_.times) known->second = prices_.times(workload);
        (known->second ? measured_ : estimated_)++;
    }
    return known->second;
}

int64_t LayoutCosts::bytes(const Node &node) const {
    const auto of = [&](ValueId id) {
        const TypedShape &form = graph_.values[id].form;
        return *element_count(form.shape) * size_of(form.type);
    };
    int64_t sum = of(node.output);
    for (const ValueId id : node.inputs) sum += of(id);
    if (std::holds_alternative<Gather>(node.op)) return 2 * of(node.output) + of(node.inputs[1]);
    const auto *resample = std::get_if<Resample>(&node.op);
    if (!resample) return sum;
    int64_t reads = of(node.output);  // a slice does not read all of its input
    for (const Resample::Axis &axis : resample->axes) reads *= axis.taps;
    return of(node.output) + std::min(of(node.inputs[0]), reads);
}

std::vector<double> LayoutCosts::of_node(const Node &node, const std::vector<LayoutOption> &options) {
    if (!prices_.memory) return computed(node, options);
    LayoutMemory::Question question{node.op, {}, options};
    for (const ValueId id : node.inputs) question.inputs.push_back(graph_.values[id].form);
    return prices_.memory->of_node(graph_.values[node.output].name, question, [&] { return computed(node, options); });
}

std::vector<double> LayoutCosts::computed(const Node &node, const std::vector<LayoutOption> &options) {
    if (std::holds_alternative<Convolution>(node.op)) return of_convolution(node, options);
    std::vector<double> costs;
    for (const LayoutOption &option : options) costs.push_back(of_other(node, option));
    return costs;
}

std::vector<double> LayoutCosts::of_convolution(const Node &node, const std::vector<LayoutOption> &options) {
    const auto &op = std::get<Convolution>(node.op);
    const TypedShape &x = graph_.values[node.inputs[0]].form, &weights = graph_.values[node.inputs[1]].form;
    const Shape &result = graph_.values[node.output].form.shape;
    std::vector<std::optional<double>> times;
    std::vector<bool> reads_planes;
    double flops = 0;
    for (const LayoutOption &option : options) {
        const Result<Workload> workload = workload_in(op, x, weights, *option.inputs[0], option.output);
        times.push_back(workload ? time_of(*workload) : std::nullopt);
        // Rather than a guess, the first option's kernel is used where it was measured.
        reads_planes.push_back(
            workload && prices_.reads_planes && !times[0] && lie_alike(option.output, options[0].output, result) &&
            workload->input_layout.kind == ActivationLayout::Kind::nchw && prices_.reads_planes(*workload));
        if (workload) flops = double(flop_count(*workload));
    }
    std::optional<double> fastest;
    for (const auto &time : times) {
        if (time && (!fastest || *time < *fastest)) fastest = time;
    }
    const double usual = fastest.value_or(flops / flops_a_ns + double(bytes(node)) / bytes_a_ns + call_ns);
    std::vector<double> costs;
    for (size_t i = 0; i < times.size(); i++) {
        const bool is_allowed = i == 0 || reads_planes[i] || prices_.unmeasured == Unmeasured::as_fast;
        // Between two equals, the kernel that need not change the order.
        const bool is_one_order = lie_alike(*options[i].inputs[0], options[i].output, x.shape);
        const bool has_channels_first =
            is_channels_first(*options[i].inputs[0], x.shape) || is_channels_first(options[i].output, result);
        const bool is_rarely_as_fast = prices_.block > 0 && has_channels_first;
        double estimate = usual;
        if (!reads_planes[i]) estimate *= (is_one_order ? 1 : changes_order) * (is_rarely_as_fast ? channels_first : 1);
        costs.push_back(times[i] ? *times[i] : is_allowed ? estimate : not_used);
    }
    return costs;
}

double LayoutCosts::of_other(const Node &node, const LayoutOption &option) {
    const TypedShape &result = graph_.values[node.output].form;
    const Storage to = storage_of(result, option.output);
    std::vector<Storage> storages;
    for (size_t i = 0; i < node.inputs.size(); i++) {
        const TypedShape &form = graph_.values[node.inputs[i]].form;
        storages.push_back(storage_of(form, option.inputs[i].value_or(row_major(form.shape.size()))));
    }
    std::vector<Stored> inputs;
    for (size_t i = 0; i < node.inputs.size(); i++) {
        inputs.push_back({&graph_.values[node.inputs[i]].form, &storages[i]});
    }
    const Stored stored{&result, &to};
    if (is_free(node.op, inputs, stored)) return 0;
    const bool is_copied = std::holds_alternative<Concat>(node.op);
    const double estimate = double(bytes(node)) / (is_copied ? copied_bytes_a_ns : bytes_a_ns) + call_ns;
    const auto nest = std::visit(
        [&](const auto &op) -> std::optional<Workload> {
            if constexpr (requires { nest_of(op, StoredNode{}); }) {
                const Result<NodeNest> made = nest_of(op, StoredNode{inputs, stored});
                if (made) return nest_workload(made->nest);
            }
            return std::nullopt;
        },
        node.op);
    return nest && validate(*nest) ? time_of(*nest).value_or(estimate) : estimate;
}

double LayoutCosts::of_move(ValueId id, const Order &from, const Order &to) {
    const Value &value = graph_.values[id];
    if (value.constant || lie_alike(from, to, value.form.shape)) return 0;
    const auto compute = [&] { return computed_move(value.form, from, to); };
    return prices_.memory ? prices_.memory->of_move({value.form, from, to}, compute) : compute();
}

double LayoutCosts::computed_move(const TypedShape &form, const Order &from, const Order &to) {
    const Storage before = storage_of(form, from), after = storage_of(form, to);
    const StoredNode node{{{&form, &before}}, {&form, &after}};
    const Result<NodeNest> nest = nest_of(Transpose{row_major(form.shape.size()).axes}, node);
    const double estimate = 2 * double(before.bytes) / moved_bytes_a_ns + call_ns;
    if (!nest) return estimate;
    const Workload workload = nest_workload(nest->nest);
    return validate(workload) ? time_of(workload).value_or(estimate) : estimate;
}

}  // namespace kiln::network
