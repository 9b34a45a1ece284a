#include "network/alter/patch.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

namespace kiln::network {
namespace {

using namespace graph;

std::string form_of_value(const TypedShape &form) { return std::string(name(form.type)) + " " + to_text(form.shape); }

class Application {
public:
    Application(const Graph &graph, const Patch &patch)
        : before_(graph),
          patch_(patch),
          first_(static_cast<ValueId>(graph.values.size())),
          producers_(graph.values.size(), -1),
          marks_(graph.values.size() + patch.made().size(), Mark::unseen),
          now_(marks_.size(), -1),
          builder_(Graph{.name = graph.name}) {
        for (size_t i = 0; i < graph.nodes.size(); i++) producers_[graph.nodes[i].output] = static_cast<int>(i);
    }

    Result<Graph> run() {
        if (!patch_.status()) return patch_.status().error();
        if (Status s = read_replacements(); !s) return s.error();
        for (const Output &output : before_.outputs) {
            if (Status s = order(in_place_of(output.value)); !s) return s.error();
        }
        collect_origins();
        emit();
        for (const Output &output : before_.outputs) builder_.output(output.name, now_[in_place_of(output.value)]);
        return without_dead_values(std::move(builder_).finish());
    }

private:
    enum class Mark { unseen, open, done };

    bool is_new(ValueId id) const { return id >= first_; }
    const Patch::Made &made(ValueId id) const { return patch_.made()[size_t(id - first_)]; }
    bool is_known(ValueId id) const { return id >= 0 && size_t(id) < marks_.size(); }
    ValueId in_place_of(ValueId id) const {
        const auto found = replacements_.find(id);
        return found == replacements_.end() ? id : found->second;
    }
    std::string name_of(ValueId id) const {
        return is_new(id) ? "new value " + std::to_string(id - first_) : "value '" + before_.values[id].name + "'";
    }

    Status read_replacements() {
        if (patch_.replaced().empty()) return bad_input("it replaces nothing");
        for (const auto &[value, by] : patch_.replaced()) {
            if (!is_known(value) || is_new(value) || producers_[value] < 0) {
                return bad_input("it replaces value " + std::to_string(value) +
                                 ", which no node of the graph computes");
            }
            if (!is_known(by)) {
                return bad_input(name_of(value) + " is replaced by value " + std::to_string(by) + ", which is unknown");
            }
            const TypedShape &wanted = before_.values[value].form, &form = patch_.form(by);
            if (wanted != form) {
                return bad_input(name_of(value) + " is " + form_of_value(wanted) + ", but what replaces it is " +
                                 form_of_value(form));
            }
            if (!replacements_.emplace(value, by).second) return bad_input(name_of(value) + " is replaced twice");
            taken_names_.emplace(by, value);
        }
        return {};
    }

    // What a value is computed from. Nodes of the graph read what takes a value's place, new ones what they name.
    std::vector<ValueId> operands(ValueId id) const {
        if (is_new(id)) return made(id).inputs;
        if (producers_[id] < 0) return {};
        std::vector<ValueId> inputs = before_.nodes[producers_[id]].inputs;
        for (ValueId &input : inputs) input = in_place_of(input);
        return inputs;
    }

    // Depth first without recursion, since a graph may be a chain of any length. Marks what is needed.
    Status order(ValueId root) {
        std::vector<std::pair<ValueId, size_t>> open;
        const auto enter = [&](ValueId id) {
            marks_[id] = Mark::open;
            open.emplace_back(id, 0);
        };
        if (marks_[root] == Mark::unseen) enter(root);
        while (!open.empty()) {
            auto &[id, next] = open.back();
            const std::vector<ValueId> inputs = operands(id);
            if (next == inputs.size()) {
                marks_[id] = Mark::done;
                order_.push_back(id);
                open.pop_back();
                continue;
            }
            const ValueId input = inputs[next++];
            if (marks_[input] == Mark::open) return bad_input(name_of(input) + " depends on itself");
            if (marks_[input] == Mark::unseen) enter(input);
        }
        return {};
    }

    void add_origins(const std::vector<std::string> &more, std::vector<std::string> *to) const {
        for (const std::string &origin : more) {
            if (std::ranges::find(*to, origin) == to->end()) to->push_back(origin);
        }
    }

    void collect_origins() {
        for (const Node &node : before_.nodes) {
            if (marks_[node.output] == Mark::unseen) add_origins(node.origins, &superfluous_);
        }
    }

    std::vector<std::string> origins(ValueId id) const {
        if (!is_new(id)) return before_.nodes[producers_[id]].origins;
        std::vector<std::string> result;
        for (const ValueId computed : made(id).computes) {
            if (is_new(computed) || producers_[computed] < 0) continue;
            add_origins(before_.nodes[producers_[computed]].origins, &result);
        }
        return result.empty() ? superfluous_ : result;
    }

    // What takes the place of a value has its name.
    std::string new_name(ValueId id) const {
        const auto taken = taken_names_.find(id);
        if (taken != taken_names_.end()) return before_.values[taken->second].name;
        const std::string &near = before_.values[patch_.replaced().front().first].name;
        return near + "/" + (made(id).constant ? "constant" : std::string(name(made(id).op)));
    }

    void put(ValueId id) {
        if (now_[id] >= 0) return;
        if (is_new(id) && made(id).constant) {
            now_[id] = builder_.constant(new_name(id), made(id).form, *made(id).constant);
            return;
        }
        if (!is_new(id) && producers_[id] < 0) {
            const Value &value = before_.values[id];
            now_[id] = builder_.constant(value.name, value.form, *value.constant);
            return;
        }
        std::vector<ValueId> inputs = operands(id);
        for (ValueId &input : inputs) input = now_[input];
        const Operator &op = is_new(id) ? made(id).op : before_.nodes[producers_[id]].op;
        now_[id] =
            *builder_.node(op, std::move(inputs), is_new(id) ? new_name(id) : before_.values[id].name, origins(id));
    }

    // Nodes of the graph keep their order as far as new ones allow.
    void emit() {
        for (const ValueId id : before_.inputs)
            now_[id] = builder_.input(before_.values[id].name, before_.values[id].form);
        std::vector<size_t> due(marks_.size(), 0);  // by value: the place of its first use in the old order
        std::vector<ValueId> sorted = order_;
        for (const ValueId id : order_) {
            due[id] = !is_new(id) && producers_[id] >= 0 ? size_t(producers_[id]) + 1 : 0;
            for (const ValueId input : operands(id)) due[id] = std::max(due[id], due[input]);
        }
        std::ranges::stable_sort(sorted, {}, [&](ValueId id) { return due[id]; });
        for (const ValueId id : sorted) put(id);
    }

    const Graph &before_;
    const Patch &patch_;
    const ValueId first_;
    std::vector<int> producers_;
    std::vector<Mark> marks_;
    std::vector<ValueId> order_, now_;
    std::map<ValueId, ValueId> replacements_, taken_names_;
    std::vector<std::string> superfluous_;  // nodes of the model that the patch computes
    GraphBuilder builder_;
};

}  // namespace

const TypedShape &Patch::form(ValueId id) const {
    const auto first = static_cast<ValueId>(graph_->values.size());
    return id < first ? graph_->values[id].form : made_[size_t(id - first)].form;
}

ValueId Patch::constant(TypedShape form, ConstantData data) {
    made_.push_back({std::move(form), std::move(data), Reshape{}, {}, {}});
    return static_cast<ValueId>(graph_->values.size() + made_.size()) - 1;
}

ValueId Patch::node(Operator op, std::vector<ValueId> inputs, std::vector<ValueId> computes) {
    if (!status_) return -1;
    const auto known = static_cast<ValueId>(graph_->values.size() + made_.size());
    std::vector<TypedShape> forms;
    for (const ValueId id : inputs) {
        if (id < 0 || id >= known) {
            status_ = bad_input("a new " + std::string(name(op)) + " reads value " + std::to_string(id) +
                                ", which is unknown");
            return -1;
        }
        forms.push_back(form(id));
    }
    Result<TypedShape> result = result_of(op, forms);
    if (!result) {
        status_ = bad_input("a new " + std::string(name(op)) + ": " + result.error().message);
        return -1;
    }
    made_.push_back({std::move(*result), std::nullopt, std::move(op), std::move(inputs), std::move(computes)});
    return known;
}

Result<Graph> apply(const Graph &graph, const Patch &patch) { return Application(graph, patch).run(); }

}  // namespace kiln::network
