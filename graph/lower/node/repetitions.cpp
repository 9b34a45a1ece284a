#include "graph/lower/node/repetitions.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "graph/lower/node/refusal.h"
#include "graph/onnx/name_checks.h"

namespace kiln::graph {
namespace {

// Each step is nodes of its own, so a sequence without end would be a graph without end.
constexpr int64_t most_steps_of_sequence = 2048;

constexpr int64_t most_told = int64_t{1} << 40;  // so that products with most_repetitions stay in range

template<typename T>
const T *attribute_as(const onnx::Node &node, std::string_view name) {
    const auto found = std::ranges::find(node.attributes, name, &onnx::Attribute::name);
    return found == node.attributes.end() ? nullptr : std::get_if<T>(&found->value);
}

bool is_of_onnx(const onnx::Node &node, std::string_view op_type) {
    return node.op_type == op_type && node.domain.empty();
}

std::optional<int64_t> element_of(const onnx::Tensor &tensor) {
    const Result<int64_t> count = element_count(tensor.shape);
    const auto bytes = tensor.data.bytes();
    if (!count || *count != 1 || is_float(tensor.type) || bytes.size() != static_cast<size_t>(size_of(tensor.type)))
        return {};
    return read_integer(tensor.type, bytes.data());
}

std::optional<int64_t> element_of(const onnx::Node &constant) {
    if (const auto *tensor = attribute_as<onnx::Tensor>(constant, "value")) return element_of(*tensor);
    if (const auto *integer = attribute_as<int64_t>(constant, "value_int")) return *integer;
    return {};
}

// The values that a graph has itself, which hide those around it.
class OwnValues {
public:
    OwnValues(const onnx::Body &body, const KnownAround &around) : around_(around) {
        // What a graph is given counts more than an initializer of that name.
        for (const onnx::ValueInfo &input : body.inputs) values_.try_emplace(input.name);
        for (const auto &[name, why] : body.unread) values_.try_emplace(name);
        for (const onnx::Tensor &tensor : body.initializers) values_.try_emplace(tensor.name, element_of(tensor));
        for (const onnx::Node &node : body.nodes) {
            const auto element = is_of_onnx(node, "Constant") ? element_of(node) : std::nullopt;
            for (const std::string &output : node.outputs) values_.try_emplace(output, element);
        }
    }

    std::optional<int64_t> known(std::string_view name) const {
        const auto own = values_.find(name);
        return own == values_.end() ? around_(name) : own->second;
    }

private:
    std::unordered_map<std::string_view, std::optional<int64_t>> values_;
    const KnownAround &around_;
};

// How often a Loop repeats its graph; 0 where that is not certain.
int64_t certain_repetitions(const onnx::Node &node, const onnx::Body &body, const OwnValues &values) {
    const auto has_input = [&](size_t i) { return i < node.inputs.size() && !node.inputs[i].empty(); };
    if (has_input(1) && values.known(node.inputs[1]).value_or(0) == 0) return 0;
    if (!goes_on(body)) return 0;
    const int64_t most = has_input(0) ? values.known(node.inputs[0]).value_or(0) : most_repetitions;
    return std::clamp<int64_t>(most, 0, most_repetitions);
}

}  // namespace

int64_t placed_size(const onnx::Body &body) {
    size_t size = 1 + body.initializers.size() + body.inputs.size() + body.outputs.size() + body.unread.size() +
                  body.outer_names.size();
    for (const onnx::Node &node : body.nodes) size += 1 + node.inputs.size() + node.outputs.size();
    return static_cast<int64_t>(size);
}

void check_steps_of_sequence(int64_t steps, int64_t directions) {
    if (steps <= most_steps_of_sequence / directions) return;
    refuse("its sequence has " + std::to_string(steps) + " steps, and kiln computes up to " +
           std::to_string(most_steps_of_sequence / directions) + "; give the input a shorter sequence with --shape");
}

bool goes_on(const onnx::Body &body) {
    if (body.inputs.size() < 2 || body.outputs.empty()) return false;
    std::string_view name = body.outputs[0].name;
    for (auto node = body.nodes.rbegin(); node != body.nodes.rend(); ++node) {
        const bool copies = is_of_onnx(*node, "Identity") && node->inputs.size() == 1 && node->outputs.size() == 1;
        if (copies && node->outputs[0] == name) name = node->inputs[0];
    }
    return name == body.inputs[1].name;
}

int64_t certain_size(const onnx::Body &body, const KnownAround &around) {
    const OwnValues values(body, around);
    const KnownAround known = [&](std::string_view name) { return values.known(name); };
    int64_t size = placed_size(body);
    std::unordered_set<std::string_view> needed;  // only what an output needs is lowered
    for (const onnx::ValueInfo &output : body.outputs) needed.insert(output.name);
    for (auto node = body.nodes.rbegin(); node != body.nodes.rend(); ++node) {
        const auto is_needed = [&](const std::string &name) { return !name.empty() && needed.contains(name); };
        if (std::ranges::none_of(node->outputs, is_needed)) continue;
        if (is_of_onnx(*node, "If")) {
            needed.insert(node->inputs.begin(), node->inputs.end());  // one of its graphs may be left out
            continue;
        }
        onnx::each_name_read(*node, [&](const std::string &name) { needed.insert(name); });
        const auto *repeated = attribute_as<std::shared_ptr<const onnx::Body>>(*node, "body");
        if (!repeated || !is_of_onnx(*node, "Loop")) continue;
        const int64_t repetitions = certain_repetitions(*node, **repeated, values);
        // A graph that may not be lowered at all is not looked into: it is of any size.
        if (repetitions > 0) size = std::min(size + repetitions * certain_size(**repeated, known), most_told);
    }
    return size;
}

}  // namespace kiln::graph
