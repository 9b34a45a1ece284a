// ONNX models of any bytes that can be read: what they become is a sound graph, whatever their nodes say.
#include <filesystem>
#include <memory>

#include "graph/lower/lower.h"
#include "tests/fuzz/fuzz_input.h"

using namespace kiln;
using namespace kiln::graph;

namespace {

// Small, so that a model takes no second.
constexpr FoldingBounds bounds{
    .elements = 1 << 14, .all_elements = 1 << 16, .steps = 1 << 20, .indices = 1 << 16, .nodes = 1 << 12};

// Every extent that the model leaves open is 3.
std::vector<InputShape> shapes_of(const onnx::Model &model) {
    std::vector<InputShape> shapes;
    for (const onnx::ValueInfo &input : model.inputs) {
        if (!input.shape) continue;
        shapes.push_back({input.name, {}});
        for (const onnx::Dimension &dimension : *input.shape) shapes.back().shape.push_back(dimension.size.value_or(3));
    }
    return shapes;
}

void check(const Result<Graph> &graph) {
    if (graph) KILN_FUZZ_EXPECT(validate(*graph).ok());
    if (!graph) KILN_FUZZ_EXPECT(!graph.error().message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte *>(data), size);
    const Result<onnx::Model> model = onnx::parse_model(nullptr, bytes, {});
    if (!model) return 0;
    check(lower(*model, {}, bounds));
    check(lower(*model, {.shapes = shapes_of(*model), .constants = {}}, bounds));
    return 0;
}
