#include <algorithm>
#include <string_view>

#include "graph/operator_text.h"

namespace kiln::graph {
namespace {

constexpr size_t columns = 100, widest_form = 24, longest_name = 60, indent = 6;

bool is_plain(char c) {
    const bool is_alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return is_alphanumeric || std::string_view("_.:;/-+@$#").find(c) != std::string_view::npos;
}

std::string quoted(const std::string &name) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text = "\"";
    for (char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            text += {'\\', c};
        } else if (byte < 0x20 || byte == 0x7f) {
            text += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
        } else {
            text += c;
        }
    }
    return text + "\"";
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
        text += std::string(line.substr(0, end)) + "\n" + std::string(indent, ' ');
        line.remove_prefix(end + 1);
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
        for (ValueId id : graph_.inputs) text += line(id, "input");
        for (const Node &node : graph_.nodes) text += line(node.output, operation(node));
        for (const Output &output : graph_.outputs) {
            text += wrapped("  output " + name_text(output.name) + " = " + argument(output.value));
        }
        return text;
    }

private:
    std::string line(ValueId id, const std::string &meaning) const {
        const Value &value = graph_.values[id];
        return wrapped("  " + padded(form_text(value.form), form_width_) + "  " + name_text(value.name) + " = " +
                       meaning);
    }

    std::string argument(ValueId id) const {
        const Value &value = graph_.values[id];
        return value.constant ? shown_constant(value) : name_text(value.name);
    }

    std::string operation(const Node &node) const {
        std::string text = std::string(name(node.op)) + "(";
        for (size_t i = 0; i < node.inputs.size(); i++) text += (i > 0 ? ", " : "") + argument(node.inputs[i]);
        text += ")" + fields_text(node.op);
        for (size_t i = 0; i < node.origins.size(); i++) text += (i > 0 ? ", " : "  <- ") + name_text(node.origins[i]);
        return text;
    }

    const Graph &graph_;
    size_t form_width_ = 0;
};

}  // namespace

std::string name_text(const std::string &name) {
    const std::string text = shortened(name);
    return !text.empty() && std::ranges::all_of(text, is_plain) ? text : quoted(text);
}

std::string form_text(const TypedShape &form) { return std::string(name(form.type)) + " " + to_text(form.shape); }

std::string shown_constant(const Value &value) {
    const std::string shape = value.form.type == Element::f32 ? to_text(value.form.shape) : form_text(value.form);
    return name_text(value.name) + "[" + shape + "]";
}

std::string to_text(const Graph &graph) { return GraphText(graph).text(); }

}  // namespace kiln::graph
