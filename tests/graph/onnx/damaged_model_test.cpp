// Real models, cut off and changed at every byte: an answer or a message, and no read outside of the bytes, which
// AddressSanitizer would see.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/build_paths.h"
#include "tests/fuzz/protobuf_mutator.h"
#include "tests/graph/onnx/parsed.h"
#include "tests/test_seed.h"

namespace kiln::graph::onnx {
namespace {

namespace dt = data_type;

std::string small_model() {
    std::ifstream file(source_dir() + "/tests/conformance/onnx_graph/n01_residual_broadcast.onnx", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// One with few weights and many kinds of fields.
std::string model_of_everything() {
    const Message attribute = Message().text(1, "pads").packed(8, {1, 1, 1, 1}).number(20, 7);
    const Message number = Message().text(1, "alpha").decimal(2, 0.5).number(20, 1);
    return model_of(graph({.nodes = {node("a", "Conv", {"x", "w"}, {"p"}).message(5, attribute),
                                     node("b", "Elu", {"p"}, {"y"}).message(5, number)},
                           .initializers = {tensor("w", dt::f32, {2}).array<float>(9, {1, 2}),
                                            tensor("v", dt::i64, {2}).packed(7, {1, -1}),
                                            tensor("u", dt::f16, {1}).number(5, 1)},
                           .inputs = {value("x", dt::f32, {-1, 3})},
                           .outputs = {value("y", dt::f32, {1})}}))
        .bytes();
}

TEST(DamagedModel, CutOffAnywhere) {
    for (const std::string &whole : {small_model(), model_of_everything()}) {
        ASSERT_EQ(error_of(parsed(whole)), "");
        // Behind the graph come opsets, whose loss is no damage that this reader could see.
        const size_t step = std::max<size_t>(1, whole.size() / 3000);
        for (size_t size = 0; size + 20 < whole.size(); size += step) {
            EXPECT_NE(error_of(parsed(whole.substr(0, size))), "") << size;
        }
    }
}

TEST(DamagedModel, AnyByteChanged) {
    const std::string whole = model_of_everything();
    for (size_t i = 0; i < whole.size(); i++) {
        for (int byte = 0; byte < 256; byte++) {
            std::string changed = whole;
            changed[i] = char(byte);
            const Result<Model> model = parsed(changed);
            if (!model) {
                EXPECT_NE(model.error().message, "");
                continue;
            }
            for (const Tensor &tensor : model->initializers) {
                EXPECT_EQ(int64_t(tensor.data.bytes().size()), *element_count(tensor.shape) * size_of(tensor.type));
            }
        }
    }
}

TEST(DamagedModel, AnyFieldChanged) {
    std::mt19937 random(test_seed());
    int read = 0;
    constexpr int rounds = 3000;
    for (int i = 0; i < rounds; i++) {
        const Result<Model> model = parsed(mutated_message(model_of_everything(), random));
        read += model.ok();
        EXPECT_TRUE(model.ok() || !model.error().message.empty()) << test_seed();
    }
    EXPECT_GT(read, 0);
    EXPECT_LT(read, rounds);
}

TEST(DamagedModel, LengthsThatLie) {
    const struct {
        const char *what;
        std::string bytes;
        const char *message;
    } rows[] = {
        {"graph beyond the end", "\x08\x08\x3a\xff\xff\xff\x7f", "not an ONNX model: it ends in the middle of a field"},
        {"graph of 4 GiB", "\x08\x08\x3a\xff\xff\xff\xff\x0f", "not an ONNX model: it ends in the middle of a field"},
        {"number without an end", std::string("\x08") + std::string(12, '\xff'),
         "not an ONNX model: it has bytes that are no field of protobuf"},
        {"a group", "\x08\x08\x1b\x1b\x1b\x1b", "not an ONNX model: it has a field of a kind that ONNX does not use"},
        {"field number 0", std::string("\x08\x08\x00\x00", 4),
         "not an ONNX model: it has bytes that are no field of protobuf"},
    };
    for (const auto &row : rows) {
        const std::string message = error_of(parsed(row.bytes));
        EXPECT_TRUE(message.starts_with(row.message)) << row.what << ": " << message;
    }
}

TEST(DamagedModel, CutOffAfterItsBeginningIsSaid) {
    const std::string whole = Message().message(8, Message().number(2, 17)).bytes() + model_of_everything();
    EXPECT_EQ(error_of(parsed(whole.substr(0, whole.size() - 30))),
              "ends in the middle of a field: the file is cut off or damaged; copy or download it again");
}

TEST(DamagedModel, NestedDeeply) {
    std::string nested;  // a graph
    for (int i = 0; i < 2000; i++) {
        const Message body = Message().text(1, "g").number(20, 5).text(6, nested);
        nested = Message().message(1, node("", "Op", {}, {}).message(5, body)).bytes();
    }
    const std::string message = error_of(parsed(with_attribute(Message().text(1, "a").number(20, 5).text(6, nested))));
    EXPECT_TRUE(message.ends_with("has graphs in graphs beyond 32, the most that kiln reads"))
        << message.substr(0, 2000);
}

TEST(DamagedModel, TooManyEntries) {
    std::string inputs;
    for (int i = 0; i < (1 << 22) + 1; i++) inputs += std::string_view("\x0a\x00", 2);
    const std::string message = error_of(parsed(model_of(Message().text(1, inputs))));
    EXPECT_TRUE(message.starts_with("node 0: has more than 4194304 nodes, names and attributes")) << message;
}

}  // namespace
}  // namespace kiln::graph::onnx
