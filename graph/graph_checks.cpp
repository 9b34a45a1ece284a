#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace kiln::graph {
namespace {

class Checks {
public:
    explicit Checks(const Graph &graph) : graph_(graph), is_known_(graph.values.size(), false) {}

    Status run() {
        if (Status s = values(); !s) return s;
        if (Status s = inputs(); !s) return s;
        for (size_t i = 0; i < graph_.nodes.size(); i++) {
            if (Status s = node(graph_.nodes[i]); !s)
                return bad_input("node " + std::to_string(i) + ": " + s.error().message);
        }
        if (Status s = outputs(); !s) return s;
        for (size_t id = 0; id < is_known_.size(); id++) {
            if (!is_known_[id]) return bad_input(called(id) + " is no input, constant or output of a node");
        }
        return {};
    }

private:
    bool is_id(ValueId id) const { return id >= 0 && static_cast<size_t>(id) < graph_.values.size(); }
    std::string called(ValueId id) const {
        return "value " + std::to_string(id) + (is_id(id) ? " `" + graph_.values[id].name + "`" : "");
    }

    Status values() {
        std::set<std::string> names;
        for (size_t id = 0; id < graph_.values.size(); id++) {
            const Value &value = graph_.values[id];
            if (value.name.empty()) return bad_input(called(id) + " has no name");
            if (!names.insert(value.name).second) return bad_input(called(id) + " has the name of another one");
            const auto count = element_count(value.form.shape);
            if (!count) return bad_input(called(id) + ": " + count.error().message);
            if (!value.constant) continue;
            is_known_[id] = true;
            const auto bytes = static_cast<int64_t>(value.constant->bytes().size());
            if (bytes != *count * size_of(value.form.type)) {
                return bad_input(called(id) + " is a constant of " + std::to_string(bytes) + " bytes");
            }
        }
        return {};
    }

    // What brings a value into being, which nothing else does.
    Status define(ValueId id) {
        if (!is_id(id)) return bad_input(called(id) + " does not exist");
        if (is_known_[id]) return bad_input(called(id) + " is defined twice");
        is_known_[id] = true;
        return {};
    }

    Status inputs() {
        for (ValueId id : graph_.inputs) {
            if (Status s = define(id); !s) return s;
        }
        return {};
    }

    Status node(const Node &node) {
        std::vector<TypedShape> forms;
        for (ValueId id : node.inputs) {
            if (!is_id(id)) return bad_input(called(id) + " does not exist");
            if (!is_known_[id]) return bad_input(called(id) + " is not known yet");
            forms.push_back(graph_.values[id].form);
        }
        if (Status s = define(node.output); !s) return s;
        const auto form = result_of(node.op, forms);
        if (!form) return form.error();
        if (*form != graph_.values[node.output].form) {
            return bad_input(called(node.output) + " does not have the form " + std::string(name(form->type)) + " " +
                             to_text(form->shape));
        }
        return {};
    }

    Status outputs() {
        std::set<std::string> names;
        for (const Output &output : graph_.outputs) {
            if (!is_id(output.value))
                return bad_input("output `" + output.name + "`: " + called(output.value) + " does not exist");
            if (!names.insert(output.name).second) return bad_input("there are two outputs `" + output.name + "`");
        }
        return {};
    }

    const Graph &graph_;
    std::vector<bool> is_known_;
};

}  // namespace

Status validate(const Graph &graph) { return Checks(graph).run(); }

}  // namespace kiln::graph
