#include "graph/lower/node/shown_names.h"

#include <algorithm>
#include <cctype>

namespace kiln::graph {
namespace {

constexpr size_t longest = 100;

std::string_view first_output(const onnx::Node &node) {
    for (const std::string &output : node.outputs) {
        if (!output.empty()) return output;
    }
    return {};
}

}  // namespace

std::string shown(std::string_view name) {
    std::string text(name);
    if (text.size() > longest) text = text.substr(0, longest / 2) + "..." + text.substr(text.size() - longest / 2);
    for (char &c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    }
    return "'" + text + "'";
}

bool is_word(std::string_view name) {
    constexpr std::string_view others = "_-./:+,@%";
    const bool is_whole = !name.empty() && name.size() <= longest;
    return is_whole && name.front() != '-' && std::ranges::all_of(name, [&](unsigned char c) {
               return std::isalnum(c) || others.find(char(c)) != std::string_view::npos;
           });
}

std::string describe(const onnx::Node &node) {
    const std::string type = shown(node.op_type);
    const std::string bare = type.substr(1, type.size() - 2);
    if (!node.name.empty()) return "node " + shown(node.name) + " (" + bare + ")";
    return "the " + bare + " node that computes " + shown(first_output(node));
}

std::string origin(const onnx::Node &node) {
    return node.name.empty() ? node.op_type + ":" + std::string(first_output(node)) : node.name;
}

}  // namespace kiln::graph
