// ONNX models of any bytes. What is read has sizes that agree with what it says, and names that lead somewhere.
#include <filesystem>
#include <memory>
#include <set>

#include "graph/onnx/model.h"
#include "graph/onnx/name_checks.h"
#include "tests/fuzz/fuzz_input.h"

using namespace kiln;
using namespace kiln::graph;

namespace {

void check_tensor(const onnx::Tensor &tensor) {
    const Result<int64_t> count = element_count(tensor.shape);
    KILN_FUZZ_EXPECT(count.ok());
    KILN_FUZZ_EXPECT(int64_t(tensor.data.bytes().size()) == *count * size_of(tensor.type));
    unsigned sum = 0;  // every byte can be read
    for (const std::byte byte : tensor.data.bytes()) sum += unsigned(byte);
    volatile unsigned seen = sum;
    (void)seen;
}

void check_names(const onnx::Body &model) {
    std::set<std::string> known(model.outer_names.begin(), model.outer_names.end());
    for (const auto &[name, why] : model.unread) known.insert(name);
    for (const onnx::ValueInfo &input : model.inputs) known.insert(input.name);
    for (const onnx::Tensor &tensor : model.initializers) known.insert(tensor.name);
    for (const onnx::Node &node : model.nodes) {
        onnx::each_name_read(node, [&](const std::string &name) { KILN_FUZZ_EXPECT(known.count(name) == 1); });
        for (const std::string &output : node.outputs) KILN_FUZZ_EXPECT(output.empty() || known.insert(output).second);
    }
    for (const onnx::ValueInfo &output : model.outputs) KILN_FUZZ_EXPECT(known.count(output.name) == 1);
}

void check_body(const onnx::Body &body) {
    for (const onnx::Tensor &tensor : body.initializers) check_tensor(tensor);
    for (const onnx::Node &node : body.nodes) {
        for (const onnx::Attribute &attribute : node.attributes) {
            if (const auto *tensor = std::get_if<onnx::Tensor>(&attribute.value)) check_tensor(*tensor);
            if (const auto *inner = std::get_if<std::shared_ptr<const onnx::Body>>(&attribute.value))
                check_body(**inner);
        }
    }
    check_names(body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte *>(data), size);
    const Result<onnx::Model> model = onnx::parse_model(nullptr, bytes, {});
    if (!model) {
        KILN_FUZZ_EXPECT(!model.error().message.empty());
        return 0;
    }
    KILN_FUZZ_EXPECT(model->outer_names.empty());
    check_body(*model);
    return 0;
}
