#include "graph/lower/node_checks.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "graph/lower/node/shown_names.h"

namespace kiln::graph {
namespace {

constexpr int64_t newest_opset = 28;

bool is_one_of(std::string_view word, std::string_view words) {
    for (size_t begin = 0; begin < words.size();) {
        const size_t end = std::min(words.find(' ', begin), words.size());
        if (words.substr(begin, end - begin) == word) return true;
        begin = end + 1;
    }
    return false;
}

std::string with_domain(const onnx::Node &node) {
    return shown(node.op_type) + (node.domain.empty() ? "" : " of the domain " + shown(node.domain));
}

Error unknown_operator(const onnx::Node &node, int64_t opset, const Rule *newest) {
    if (node.op_type == "Scan" && opset == 8) {
        return unsupported("in opset 8 it has lengths and an axis of batches; convert the model to opset 9 or later");
    }
    if (newest) {
        return bad_input("opset " + std::to_string(opset) + " has no such operator, which begins with opset " +
                         std::to_string(newest->since));
    }
    return unsupported("kiln has no operator " + with_domain(node) +
                       "; export the model without it, or end the network in front of it (--outputs)");
}

// Without those at the end that are left out.
size_t stated_count(const std::vector<std::string> &names) {
    size_t count = names.size();
    while (count > 0 && names[count - 1].empty()) count--;
    return count;
}

void check_attributes(const onnx::Node &node, const Rule &rule, int64_t opset, Problems *problems) {
    std::set<std::string_view> seen;
    for (const onnx::Attribute &attribute : node.attributes) {
        if (!seen.insert(attribute.name).second) {
            problems->add(node, bad_input("it states its attribute " + shown(attribute.name) + " twice"));
        }
        if (is_one_of(attribute.name, rule.attributes)) continue;
        const std::string known = rule.attributes.empty() ? "none" : std::string(rule.attributes);
        problems->add(node, bad_input("in opset " + std::to_string(opset) + " the operator has no attribute " +
                                      shown(attribute.name) + " (it has " + known +
                                      "); export the model for an opset that has it"));
    }
}

void check_operands(const onnx::Node &node, const Rule &rule, Problems *problems) {
    const int inputs = static_cast<int>(stated_count(node.inputs));
    const int outputs = static_cast<int>(stated_count(node.outputs));
    if (inputs > rule.inputs.most) {
        problems->add(node, bad_input("it has " + std::to_string(inputs) + " inputs, and the operator takes " +
                                      std::to_string(rule.inputs.most)));
    }
    for (int i = 0; i < rule.inputs.least; i++) {
        if (i < inputs && !node.inputs[i].empty()) continue;
        problems->add(node, bad_input("its input " + std::to_string(i) + ", which the operator requires, is missing"));
    }
    if (outputs > rule.outputs) {
        problems->add(node, bad_input("it has " + std::to_string(outputs) + " outputs, and the operator gives " +
                                      std::to_string(rule.outputs)));
    }
}

}  // namespace

int64_t opset_of(const onnx::Model &model, const onnx::Node &node) {
    const auto opset = model.opsets.find(node.domain);
    return opset == model.opsets.end() ? 1 : opset->second;
}

Status check_opset(const onnx::Model &model) {
    const auto opset = model.opsets.find("");
    if (opset == model.opsets.end() || opset->second <= newest_opset) return {};
    return unsupported("the model is of opset " + std::to_string(opset->second) +
                       ", and the newest that kiln knows is " + std::to_string(newest_opset) +
                       "; convert it (onnx.version_converter)");
}

const Rule *rule_for(const onnx::Model &model, const onnx::Node &node, Problems *problems) {
    const int64_t opset = opset_of(model, node);
    const RuleSearch found = find_rule(node.domain, node.op_type, opset);
    if (!found.rule) {
        problems->add(node, unknown_operator(node, opset, found.newest));
        return nullptr;
    }
    const size_t before = problems->count();
    check_attributes(node, *found.rule, opset, problems);
    check_operands(node, *found.rule, problems);
    return problems->count() == before ? found.rule : nullptr;
}

}  // namespace kiln::graph
