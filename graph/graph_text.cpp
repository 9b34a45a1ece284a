#include <algorithm>
#include <string_view>

#include "graph/operator_text.h"
#include "text/quoted_text.h"

namespace kiln::graph {
namespace {

constexpr size_t columns = 100, widest_form = 24, longest_name = 60, longest_label = 24, indent = 6;

bool belongs_to_names(char c) {
    const bool is_alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return is_alphanumeric || std::string_view("_.:;/-+@$#").find(c) != std::string_view::npos;
}

// Bytes of one character of UTF-8 stay together.
std::string shortened(const std::string &name) {
    if (name.size() <= longest_name) return name;
    const auto is_inside = [&](size_t i) { return (static_cast<unsigned char>(name[i]) & 0xc0) == 0x80; };
    size_t head = longest_name / 2 - 2, tail = name.size() - longest_name / 2 + 1;
    while (head > 0 && is_inside(head)) head--;
    while (tail < name.size() && is_inside(tail)) tail++;
    return name.substr(0, head) + "..." + name.substr(tail);
}

// Lines end at spaces where they would be longer than a screen is wide.
std::string wrapped(std::string_view line) {
    std::string text;
    size_t width = columns;
    while (line.size() > width) {
        size_t end = line.rfind(' ', width);
        if (end == std::string_view::npos || end <= indent) end = line.find(' ', width);
        if (end == std::string_view::npos) break;
        std::string_view part = line.substr(0, end);
        if (part.ends_with("<-") || part.ends_with(" #")) part.remove_suffix(2);  // these belong to what follows
        line.remove_prefix(part.size());
        line.remove_prefix(line.find_first_not_of(' '));
        text += std::string(part.substr(0, part.find_last_not_of(' ') + 1)) + "\n" + std::string(indent, ' ');
        width = columns - indent;
    }
    return text + std::string(line) + "\n";
}

std::string padded(std::string text, size_t width) {
    if (text.size() < width) text.append(width - text.size(), ' ');
    return text;
}

class GraphText {
public:
    explicit GraphText(const Graph &graph) : graph_(graph) {
        const auto widen = [&](ValueId id) {
            const size_t width = form_text(graph.values[id].form).size();
            form_width_ = std::max(form_width_, std::min(width, widest_form));
        };
        for (ValueId id : graph.inputs) widen(id);
        for (const Node &node : graph.nodes) widen(node.output);
    }

    std::string text() const {
        std::string text = "network " + (graph_.name.empty() ? "without a name" : name_text(graph_.name)) + "\n";
        for (ValueId id : graph_.inputs) text += line(id, "input", {});
        for (const Node &node : graph_.nodes) text += line(node.output, operation(node), node.origins);
        for (const Output &output : graph_.outputs) {
            text += wrapped("  output " + name_text(output.name) + " = " + argument(output.value));
        }
        return text;
    }

private:
    std::string line(ValueId id, std::string meaning, const std::vector<std::string> &origins) const {
        const Value &value = graph_.values[id];
        const std::string label = label_of(id), name = name_text(value.name);
        for (size_t i = 0; i < origins.size(); i++) meaning += (i > 0 ? ", " : "  <- ") + name_text(origins[i]);
        // A value often has the name of the node that it comes from.
        if (label != name && std::ranges::find(origins, value.name) == origins.end()) meaning += "  # " + name;
        return wrapped("  " + padded(form_text(value.form), form_width_) + "  " + label + " = " + meaning);
    }

    // The name, or where it is long the number: lines show what flows where.
    std::string label_of(ValueId id) const {
        std::string name = name_text(graph_.values[id].name);
        return name.size() <= longest_label ? name : "%" + std::to_string(id);
    }

    std::string argument(ValueId id) const {
        const Value &value = graph_.values[id];
        return value.constant ? shown_constant(value) : label_of(id);
    }

    std::string operation(const Node &node) const {
        std::string text = std::string(name(node.op)) + "(";
        for (size_t i = 0; i < node.inputs.size(); i++) text += (i > 0 ? ", " : "") + argument(node.inputs[i]);
        return text + ")" + fields_text(node.op);
    }

    const Graph &graph_;
    size_t form_width_ = 0;
};

}  // namespace

std::string name_text(const std::string &name) {
    const std::string text = shortened(quoted_line(name));
    if (!text.empty() && std::ranges::all_of(text, belongs_to_names)) return text;
    std::string quoted = "\"";
    for (char c : text) quoted += c == '"' ? "\\\"" : std::string(1, c);
    return quoted + "\"";
}

std::string form_text(const TypedShape &form) { return std::string(name(form.type)) + " " + to_text(form.shape); }

std::string shown_constant(const Value &value) {
    const std::string shape = value.form.type == Element::f32 ? to_text(value.form.shape) : form_text(value.form);
    return name_text(value.name) + "[" + shape + "]";
}

std::string to_text(const Graph &graph) { return GraphText(graph).text(); }

}  // namespace kiln::graph
