// Initializers of every type and in every field that holds elements.
#include <gtest/gtest.h>

#include <limits>

#include "tests/graph/onnx/parsed.h"

namespace kiln::graph::onnx {
namespace {

namespace dt = data_type;

std::vector<double> numbers(const Tensor &tensor) {
    std::vector<double> all;
    const int size = size_of(tensor.type);
    for (size_t i = 0; i + size <= tensor.data.bytes().size(); i += size) {
        all.push_back(read_float(tensor.type, tensor.data.bytes().data() + i));
    }
    return all;
}

struct Good {
    const char *name;
    Message tensor;
    Element type;
    std::vector<double> elements;
};

std::vector<Good> good_tensors() {
    return {
        {"raw float", tensor("w", dt::f32, {2, 2}).array<float>(9, {1, -2, 0.5, 3}), Element::f32, {1, -2, 0.5, 3}},
        {"raw bool", tensor("w", dt::boolean, {2}).array<uint8_t>(9, {0, 1}), Element::boolean, {0, 1}},
        {"raw int64", tensor("w", dt::i64, {1}).array<int64_t>(9, {-5}), Element::i64, {-5}},
        {"float_data", tensor("w", dt::f32, {3}).array<float>(4, {1, 2, 3}), Element::f32, {1, 2, 3}},
        {"float_data in pieces",
         tensor("w", dt::f32, {4}).array<float>(4, {1}).decimal(4, 2).array<float>(4, {3, 4}),
         Element::f32,
         {1, 2, 3, 4}},
        {"float_data, one each", tensor("w", dt::f32, {2}).decimal(4, 7).decimal(4, 8), Element::f32, {7, 8}},
        {"double_data", tensor("w", dt::f64, {2}).array<double>(10, {0.1, -0.2}), Element::f64, {0.1, -0.2}},
        {"int32_data", tensor("w", dt::i32, {2}).packed(5, {-1, 2147483647}), Element::i32, {-1, 2147483647}},
        {"int32_data, one each", tensor("w", dt::i32, {2}).number(5, -7).number(5, 9), Element::i32, {-7, 9}},
        {"int32_data of bytes", tensor("w", dt::u8, {2}).packed(5, {0, 255}), Element::u8, {0, 255}},
        {"int32_data of signed bytes", tensor("w", dt::i8, {2}).packed(5, {-128, 127}), Element::i8, {-128, 127}},
        {"int32_data of shorts", tensor("w", dt::i16, {2}).packed(5, {-32768, 5}), Element::i16, {-32768, 5}},
        {"int32_data of unsigned shorts", tensor("w", dt::u16, {1}).packed(5, {65535}), Element::u16, {65535}},
        {"int32_data of booleans", tensor("w", dt::boolean, {2}).packed(5, {1, 0}), Element::boolean, {1, 0}},
        {"int32_data of halves", tensor("w", dt::f16, {2}).packed(5, {0x3c00, 0xc000}), Element::f16, {1, -2}},
        {"int32_data of signed bits", tensor("w", dt::f16, {1}).packed(5, {int16_t(0xc000)}), Element::f16, {-2}},
        {"int32_data of bfloat16", tensor("w", dt::bf16, {1}).packed(5, {0x3f80}), Element::bf16, {1}},
        {"int64_data", tensor("w", dt::i64, {2}).packed(7, {-3, 1ll << 40}), Element::i64, {-3, double(1ll << 40)}},
        {"uint64_data of 32 bits", tensor("w", dt::u32, {1}).packed(11, {4294967295}), Element::u32, {4294967295}},
        {"uint64_data", tensor("w", dt::u64, {1}).packed(11, {7}), Element::u64, {7}},
        {"scalar", tensor("w", dt::f32, {}).array<float>(9, {4}), Element::f32, {4}},
        {"no elements", tensor("w", dt::f32, {3, 0}), Element::f32, {}},
        {"packed dims",
         Message().packed(1, {1, 2}).number(2, dt::f32).text(8, "w").array<float>(9, {1, 2}),
         Element::f32,
         {1, 2}},
        {"elements before shape",
         Message().packed(5, {3, 4}).text(8, "w").number(2, dt::i32).number(1, 2),
         Element::i32,
         {3, 4}},
        {"unknown fields",
         tensor("w", dt::f32, {1}).array<float>(9, {4}).text(99, "later").number(100, 1),
         Element::f32,
         {4}},
    };
}

TEST(Tensor, ElementsAreReadFromEveryField) {
    for (const Good &row : good_tensors()) {
        const Result<Model> model = parsed(with_initializer(row.tensor));
        ASSERT_TRUE(model) << row.name << ": " << model.error().message;
        ASSERT_EQ(model->initializers.size(), 1u) << row.name;
        EXPECT_EQ(model->initializers[0].type, row.type) << row.name;
        EXPECT_EQ(numbers(model->initializers[0]), row.elements) << row.name;
    }
}

TEST(Tensor, DenseElementsStayInTheFile) {
    for (const int field : {4, 9}) {
        const auto owner = std::make_shared<const std::string>(
            with_initializer(tensor("w", dt::f32, {2}).array<float>(field, {1, 2})).bytes());
        const Result<Model> model = parse_model(owner, std::as_bytes(std::span(*owner)), {});
        ASSERT_TRUE(model);
        const char *data = reinterpret_cast<const char *>(model->initializers[0].data.bytes().data());
        EXPECT_TRUE(data > owner->data() && data < owner->data() + owner->size()) << field;
        EXPECT_GT(owner.use_count(), 1);
    }
}

TEST(Tensor, WhatIsWrongIsSaidWithItsName) {
    constexpr int64_t huge = int64_t{1} << 33;
    const struct {
        Message tensor;
        const char *message;
    } rows[] = {
        {tensor("w", dt::f32, {2}).array<float>(9, {1}),
         "tensor 'w': has 4 bytes, but its type f32 and shape 2 need 8"},
        {tensor("w", dt::f32, {2}).array<float>(9, {1, 2, 3}),
         "tensor 'w': has 12 bytes, but its type f32 and shape 2 need 8"},
        {tensor("w", dt::f32, {2}).array<float>(4, {1, 2, 3}), "tensor 'w': has 3 elements, but its shape needs 2"},
        {tensor("w", dt::f32, {2}).text(4, "seven77"), "tensor 'w': has 1 elements, but its shape needs 2"},
        {tensor("w", dt::f32, {2}), "tensor 'w': has 0 elements, but its shape needs 2"},
        {tensor("w", dt::i64, {2}).packed(7, {1, 2, 3}), "tensor 'w': has more elements than the 2 of its shape"},
        {tensor("w", dt::i32, {2}).packed(7, {1, 2}), "tensor 'w': has 0 elements, but its shape needs 2"},
        {tensor("w", dt::u8, {1}).packed(5, {256}), "tensor 'w': has the element 256, which its type cannot hold"},
        {tensor("w", dt::i8, {1}).packed(5, {-129}), "tensor 'w': has the element -129, which its type cannot hold"},
        {tensor("w", dt::boolean, {1}).packed(5, {2}), "tensor 'w': has the element 2, which its type cannot hold"},
        {tensor("w", dt::u32, {1}).packed(11, {1ll << 32}),
         "tensor 'w': has the element 4294967296, which its type cannot hold"},
        {tensor("w", dt::f32, {-1}).array<float>(9, {1}), "tensor 'w': its shape: "},
        {tensor("w", dt::f32, {huge, huge}), "tensor 'w': its shape: "},
        {tensor("w", dt::f32, {huge, huge, 0, -1}), "tensor 'w': its shape: "},
        {tensor("w", dt::f32, {std::numeric_limits<int64_t>::max(), 2}), "tensor 'w': its shape: "},
        {tensor("w", dt::f32, std::vector<int64_t>(65, 1)).array<float>(9, {1}), "tensor 'w': has more than 64 axes"},
        {tensor("", dt::f32, {1}).array<float>(9, {1}), "an initializer has no name"},
        {tensor("", dt::string, {1}), "an initializer has no name"},
        {tensor("w", dt::i32, {1}).text(5, "\xff\xff"), "tensor 'w': ends in the middle of a field"},
        {tensor(std::string(1000, 'w'), dt::f32, {1}), "...wwww"},
    };
    for (const auto &row : rows) {
        const std::string message = error_of(parsed(with_initializer(row.tensor)));
        EXPECT_NE(message.find(row.message), std::string::npos) << row.message << "\n" << message;
        EXPECT_LT(message.size(), 400u) << message;
    }
}

TEST(Tensor, OneOfAnotherTypeIsUnread) {
    const struct {
        Message tensor;
        const char *why;
    } rows[] = {
        {tensor("w", dt::float8, {1}).packed(5, {1}), "of type float8e4m3fn"},
        {tensor("w", dt::int4, {-1}), "of type int4"},
        {tensor("w", dt::string, {1}).text(6, "text"), "of type string"},
        {tensor("w", 0, {1}), "of type undefined"},
        {tensor("w", 1000, {1}), "of type number 1000"},
        {tensor("w", -1, {1}), "of type number -1"},
        {tensor("w", dt::f32, {1}).message(3, Message().number(1, 0).number(2, 1)), "in segments"},
    };
    for (const auto &row : rows) {
        const Result<Model> model = parsed(with_initializer(row.tensor));
        ASSERT_TRUE(model) << row.why << ": " << model.error().message;
        EXPECT_TRUE(model->initializers.empty());
        EXPECT_EQ(model->unread, (std::map<std::string, std::string>{{"w", row.why}}));
    }
}

}  // namespace
}  // namespace kiln::graph::onnx
