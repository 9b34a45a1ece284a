// Networks for several images: what they compute of each is what the network for one computes of it.
#include "graph/batch/with_batch.h"

#include <cmath>
#include <functional>
#include <numeric>

#include "tests/graph/passes/quantized_graphs.h"
#include "tests/graph/passes/random_graphs.h"
#include "tests/graph/passes/sketch.h"
#include "tests/test_seed.h"

namespace kiln::graph {
namespace {

constexpr int64_t images = 3;

int64_t product(const Shape &shape, size_t begin, size_t end) {
    return std::accumulate(shape.begin() + int64_t(begin), shape.begin() + int64_t(end), int64_t{1},
                           std::multiplies<>());
}

// One image of a tensor that has `images` along an axis.
Numbers image_of(const Numbers &all, const TypedShape &form, size_t axis, int64_t image) {
    Numbers one{form, all.elements};
    const int64_t before = product(form.shape, 0, axis), behind = product(form.shape, axis, form.shape.size());
    std::visit(
        [&](auto &elements) {
            auto kept = elements;
            kept.clear();
            for (int64_t i = 0; i < before; i++) {
                const auto from = elements.begin() + (i * images + image) * behind;
                kept.insert(kept.end(), from, from + behind);
            }
            elements = std::move(kept);
        },
        one.elements);
    return one;
}

// The axis along which an output has images; nothing where it is the same for all.
std::optional<size_t> axis_of_images(const Shape &one, const Shape &all) {
    for (size_t axis = 0; axis < one.size(); axis++) {
        if (one[axis] != all[axis]) return axis;
    }
    return {};
}

void expect_equal(const Numbers &got, const Numbers &expected) {
    ASSERT_EQ(got.form, expected.form);
    if (got.elements.index() == 1) {
        EXPECT_EQ(got.elements, expected.elements);
        return;
    }
    const auto &a = std::get<0>(got.elements), &b = std::get<0>(expected.elements);
    for (size_t i = 0; i < a.size(); i++) EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])));
}

void expect_the_same_of_each_image(const Graph &one, const Graph &all, uint64_t seed) {
    const Status status = validate(all);
    ASSERT_TRUE(status) << status.error().message;
    const std::vector<Numbers> inputs = drawn_inputs(all, seed);
    const auto together = evaluate(all, inputs);
    ASSERT_TRUE(together) << together.error().message;
    for (int64_t image = 0; image < images; image++) {
        std::vector<Numbers> of_image;
        for (size_t i = 0; i < inputs.size(); i++)
            of_image.push_back(image_of(inputs[i], one.values[one.inputs[i]].form, 0, image));
        const auto apart = evaluate(one, of_image);
        ASSERT_TRUE(apart) << apart.error().message;
        for (size_t i = 0; i < apart->size(); i++) {
            const Numbers &expected = (*apart)[i], &found = (*together)[i];
            const auto axis = axis_of_images(expected.form.shape, found.form.shape);
            expect_equal(axis ? image_of(found, expected.form, *axis, image) : found, expected);
        }
    }
}

using Ids = std::vector<ValueId>;

TEST(WithBatch, HasTheResultsOfEachImage) {
    const struct {
        const char *what;
        Ids (*make)(Sketch &);
        Shape result;
    } rows[] = {
        {"a classifier",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 3, 6, 6})}, 4, {3, 3});
             const auto mean = s.node(Reduce{Reduce::Kind::mean, {2, 3}}, {c});
             const auto flat = s.reshape(mean, {1, 4});
             const auto product = s.node(MatrixProduct{}, {flat, s.random({4, 5})});
             return Ids{s.node(Normalize{Normalize::Kind::softmax, {1}}, {product})};
         },
         {3, 5}},
        {"heads of attention",
         [](Sketch &s) {
             const auto x = s.input({1, 6, 8});
             const auto heads = s.transpose(s.reshape(x, {1, 6, 2, 4}), {0, 2, 1, 3});
             const auto scores = s.node(MatrixProduct{}, {heads, s.transpose(heads, {0, 1, 3, 2})});
             return Ids{s.node(MatrixProduct{}, {s.node(Normalize{Normalize::Kind::softmax, {3}}, {scores}), heads})};
         },
         {3, 2, 6, 4}},
        {"a part that is the same for all images",
         [](Sketch &s) {
             return Ids{s.node(Concat{1}, {s.random({1, 1, 4}), s.input({1, 5, 4})})};
         },
         {3, 6, 4}},
        {"images as the columns of a product",
         [](Sketch &s) {
             const auto columns = s.transpose(s.input({1, 4}), {1, 0});
             return Ids{s.node(MatrixProduct{}, {s.random({3, 4}), columns})};
         },
         {3, 3}},
        {"another axis of extent 1",
         [](Sketch &s) {
             return Ids{s.reshape(s.transpose(s.input({1, 5, 2}), {1, 0, 2}), {5, 1, 2, 1})};
         },
         {5, 3, 2, 1}},
        {"rows of a table that each image chooses, and elements that all choose alike",
         [](Sketch &s) {
             const auto chosen = s.node(Gather{0}, {s.random({5, 2}), s.input({1, 3}, Element::i32)});
             return Ids{s.node(Gather{2}, {chosen, s.integers({4, 1}, {1, 0, 7, 1})})};
         },
         {3, 3, 4, 1}},
        {"two inputs, broadcast",
         [](Sketch &s) {
             return Ids{s.elementwise("add(mul(x0,x1),x2)",
                                      {s.input({1, 3, 2, 2}), s.input({1, 3, 1, 1}), s.random({3, 1, 1})})};
         },
         {3, 3, 2, 2}},
        {"an output that depends on no input",
         [](Sketch &s) {
             s.input({1, 2});
             return Ids{s.elementwise("exp(x0)", {s.random({2, 2})})};
         },
         {2, 2}},
        {"quanta",
         [](Sketch &s) {
             const auto x = dequantize(s, {s.input({1, 3, 4}, Element::i8), 0.5, 3});
             return Ids{quantize(s, s.elementwise("max(x0,0)", {x}), 0.25).stored};
         },
         {3, 3, 4}},
    };
    for (const auto &row : rows) {
        SCOPED_TRACE(row.what);
        Sketch sketch;
        const Ids outputs = row.make(sketch);
        const Graph one = std::move(sketch).finish(outputs);
        const auto all = with_batch(one, images);
        ASSERT_TRUE(all) << all.error().message;
        EXPECT_EQ(all->values[all->outputs[0].value].form.shape, row.result) << told(*all);
        expect_the_same_of_each_image(one, *all, 1);
    }
}

TEST(WithBatch, RefusesWhatJoinsImages) {
    const struct {
        const char *message;
        ErrorCode code;
        Ids (*make)(Sketch &);
    } rows[] = {
        {"input `value` has the shape 2x3, whose first axis is not of one image", ErrorCode::bad_input,
         [](Sketch &s) {
             return Ids{s.elementwise("exp(x0)", {s.input({2, 3})})};
         }},
        {"whose first axis is not of one image", ErrorCode::bad_input,
         [](Sketch &s) { return Ids{s.elementwise("exp(x0)", {s.input({})})}; }},
        {"(mean): it computes something of all images together", ErrorCode::unsupported,
         [](Sketch &s) {
             return Ids{s.node(Reduce{Reduce::Kind::mean, {0, 1}}, {s.input({1, 3})})};
         }},
        {"(reshape): images have no axis of their own", ErrorCode::unsupported,
         [](Sketch &s) {
             return Ids{s.reshape(s.input({1, 6}), {6})};
         }},
        {"(concat): it computes something of all images together", ErrorCode::unsupported,
         [](Sketch &s) {
             const auto x = s.input({1, 3});
             return Ids{s.node(Concat{0}, {x, x})};
         }},
        {"(matrix_product): it computes something of all images together", ErrorCode::unsupported,
         [](Sketch &s) {
             const auto x = s.input({1, 3});
             return Ids{s.node(MatrixProduct{}, {s.transpose(x, {1, 0}), x})};
         }},
        {"(matrix_product): it computes something of all images together", ErrorCode::unsupported,
         [](Sketch &s) {
             return Ids{s.node(MatrixProduct{}, {s.input({1, 5, 3}), s.random({images, 3, 2})})};
         }},
        {"(elementwise): it computes something of all images together", ErrorCode::unsupported,
         [](Sketch &s) {
             return Ids{s.elementwise("add(x0,x1)", {s.input({1, 3}), s.random({2, 3})})};
         }},
        {"(gather): it computes something of all images together", ErrorCode::unsupported,
         [](Sketch &s) {
             return Ids{s.node(Gather{1}, {s.input({1, 3}), s.input({1, 2}, Element::i32)})};
         }},
        {"(gather): it computes something of all images together", ErrorCode::unsupported,
         [](Sketch &s) {
             return Ids{s.node(Gather{0}, {s.input({1, 3}), s.integers({2}, {0, 0})})};
         }},
        {"(resample): it computes something of all images together", ErrorCode::unsupported,
         [](Sketch &s) {
             return Ids{s.pad(s.input({1, 3}), 0, 1, 1)};
         }},
    };
    for (const auto &row : rows) {
        Sketch sketch;
        const Ids outputs = row.make(sketch);
        const auto all = with_batch(std::move(sketch).finish(outputs), images);
        ASSERT_FALSE(all) << row.message;
        EXPECT_EQ(all.error().code, row.code);
        EXPECT_NE(all.error().message.find(row.message), std::string::npos) << all.error().message;
    }
}

TEST(WithBatch, DrawnGraphs) {
    int accepted = 0;
    for (uint64_t i = 0; i < 300; i++) {
        const uint64_t seed = test_seed() * 1000 + i;
        SCOPED_TRACE(seed);
        const Graph one = i % 2 ? random_graph(seed, {.nodes = 8, .elements = 100}) : quantized_graph(seed, 6);
        const auto all = with_batch(one, images);
        if (!all) continue;
        accepted++;
        expect_the_same_of_each_image(one, *all, seed);
    }
    EXPECT_GE(accepted, 20) << "of 300";
}

}  // namespace
}  // namespace kiln::graph
