#include "graph/lower/problems.h"

#include "graph/lower/node/shown_names.h"

namespace kiln::graph {

void Problems::add(Error error) {
    all_unsupported_ = all_unsupported_ && error.code == ErrorCode::unsupported;
    lines_.push_back(std::move(error.message));
}

void Problems::add(const onnx::Node &node, Error error) {
    add(Error{error.code, describe(node) + ": " + error.message});
}

Error Problems::error() const {
    constexpr size_t most = 20;
    std::string text;
    for (size_t i = 0; i < lines_.size() && i < most; i++) text += (i > 0 ? "\n" : "") + lines_[i];
    if (lines_.size() > most) text += "\nand " + std::to_string(lines_.size() - most) + " more";
    return {all_unsupported_ ? ErrorCode::unsupported : ErrorCode::bad_input, text};
}

}  // namespace kiln::graph
