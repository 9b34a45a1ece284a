#include <set>

#include "graph/operator_text.h"
#include "text/markup.h"

namespace kiln::graph {
namespace {

std::string vertex(ValueId id) { return "v" + std::to_string(id); }

class Drawing {
public:
    explicit Drawing(const Graph &graph) : graph_(graph) {}

    std::string text() {
        text_ = "digraph " + graphviz_string(name_text(graph_.name)) + " {\n  node [shape=box];\n";
        for (ValueId id : graph_.inputs) declare(id, described(id), "shape=ellipse");
        for (const Node &node : graph_.nodes) draw(node);
        for (size_t i = 0; i < graph_.outputs.size(); i++) {
            const Output &output = graph_.outputs[i];
            if (graph_.values[output.value].constant) declare(output.value, described(output.value), "shape=note");
            const std::string end = "out" + std::to_string(i);
            text_ += "  " + end + " [label=" + graphviz_string(name_text(output.name)) + ", shape=ellipse];\n";
            text_ += "  " + vertex(output.value) + " -> " + end + ";\n";
        }
        return text_ + "}\n";
    }

private:
    std::string described(ValueId id) const {
        return name_text(graph_.values[id].name) + "\n" + form_text(graph_.values[id].form);
    }

    void declare(ValueId id, const std::string &label, const std::string &style) {
        if (!declared_.insert(id).second) return;
        text_ += "  " + vertex(id) + " [label=" + graphviz_string(label) + (style.empty() ? "" : ", " + style) + "];\n";
    }

    // Constants are lines of the label: as vertices they would hide the rest.
    void draw(const Node &node) {
        std::string label = std::string(name(node.op)) + fields_text(node.op);
        for (ValueId id : node.inputs) {
            if (graph_.values[id].constant) label += "\n" + shown_constant(graph_.values[id]);
        }
        for (const std::string &origin : node.origins) label += "\n<- " + name_text(origin);
        declare(node.output, label, "");
        for (ValueId id : node.inputs) {
            if (graph_.values[id].constant) continue;
            text_ += "  " + vertex(id) + " -> " + vertex(node.output) +
                     " [label=" + graphviz_string(form_text(graph_.values[id].form)) + "];\n";
        }
    }

    const Graph &graph_;
    std::string text_;
    std::set<ValueId> declared_;
};

}  // namespace

std::string to_graphviz(const Graph &graph) { return Drawing(graph).text(); }

}  // namespace kiln::graph
