// ScatterElements and ScatterND by indices that are inputs.
#include <random>

#include "tests/graph/lower/rule_cases.h"
#include "tests/test_seed.h"

namespace kiln::graph {
namespace {

// Data, indices and updates are inputs. The same comes of constant indices, which have to be inside.
void expect_scattered(RuleCase row, bool are_inside = true) {
    row.network_inputs = 3;
    expect_outputs(row);
    row.network_inputs = 1;
    if (are_inside) expect_outputs(row);
}

Numbers condition(Shape shape, std::vector<int64_t> elements) {
    return whole(std::move(shape), std::move(elements), Element::boolean);
}

TEST(ComputedScatters, Elements) {
    const std::vector<RuleCase> rows{
        {"ScatterElements",
         18,
         {integer("axis", 1)},
         {counted({1, 5}), whole({1, 2}, {1, -2}), floats({1, 2}, {7, 8})},
         {floats({1, 5}, {1, 7, 3, 8, 5})}},
        {"Scatter",
         9,
         {},
         {counted({3, 3}, 0), whole({2, 3}, {1, 0, 2, 0, 2, 1}), floats({2, 3}, {10, 11, 12, 20, 21, 22})},
         {floats({3, 3}, {20, 11, 2, 10, 4, 22, 6, 21, 12})}},
        // The last update of an element stays, of few and of many.
        {"ScatterElements", 11, {}, {line({1, 2}), list({1, 1, 0, 1}), line({3, 4, 5, 6})}, {line({5, 6})}},
        {"ScatterElements", 13, {}, {line({1, 2}), list({1, 1}), line({3, nan})}, {line({1, nan})}},
        // Fewer places than the data along other axes.
        {"ScatterElements",
         18,
         {integer("axis", -2)},
         {counted({2, 3, 2}), whole({1, 4, 1}, {2, 0, 2, 0}, Element::i32), floats({1, 4, 1}, {-1, -2, -3, -4})},
         {floats({2, 3, 2}, {-4, 2, 3, 4, -3, 6, 7, 8, 9, 10, 11, 12})}},
        {"ScatterElements",
         18,
         {},
         {counted({2, 3}), whole({1, 2}, {1, 0}), floats({1, 2}, {-1, -2})},
         {floats({2, 3}, {1, -2, 3, -1, 5, 6})}},
        // An inverse permutation, as orders of tokens are undone.
        {"ScatterElements",
         18,
         {},
         {list({0, 0, 0, 0, 0}), list({3, 1, 4, 0, 2}), list({0, 1, 2, 3, 4})},
         {list({3, 1, 4, 0, 2})}},
        {"ScatterElements",
         18,
         {},
         {condition({5}, {1, 0, 1, 0, 0}), list({0, 1, 1, 4}), condition({4}, {0, 0, 1, 1})},
         {condition({5}, {0, 1, 1, 0, 1})}},
        {"ScatterElements", 18, {}, {counted({3}), list({}), floats({0}, {})}, {counted({3})}},
    };
    for (const RuleCase &row : rows) expect_scattered(row);
}

TEST(ComputedScatters, Blocks) {
    const Numbers cube = counted({2, 2, 2});
    const std::vector<RuleCase> rows{
        {"ScatterND",
         16,
         {},
         {counted({8}), whole({4, 1}, {4, 3, 1, 7}), line({9, 10, 11, 12})},
         {line({1, 11, 3, 10, 9, 6, 7, 12})}},
        {"ScatterND",
         11,
         {},
         {cube, whole({1, 2}, {1, 0}), floats({1, 2}, {-1, -2})},
         {floats({2, 2, 2}, {1, 2, 3, 4, -1, -2, 7, 8})}},
        {"ScatterND",
         18,
         {},
         {counted({3, 2}), whole({2, 2, 1}, {2, 0, -1, 0}, Element::i32), counted({2, 2, 2}, 11)},
         {floats({3, 2}, {17, 18, 3, 4, 15, 16})}},
        {"ScatterND",
         13,
         {},
         {cube, whole({5, 3}, {0, 0, 0, 1, -1, 1, -1, 1, 0, 0, 1, 1, 1, 1, 0}), line({10, 20, 30, 40, 50})},
         {floats({2, 2, 2}, {10, 2, 3, 40, 5, 6, 50, 20})}},
        // One key of each of two heads, into a cache.
        {"ScatterND",
         18,
         {},
         {counted({1, 2, 3, 2}), whole({1, 2, 1, 3}, {0, 0, 1, 0, 1, 1}), floats({1, 2, 1, 2}, {-1, -2, -3, -4})},
         {floats({1, 2, 3, 2}, {1, 2, -1, -2, 5, 6, 7, 8, -3, -4, 11, 12})}},
    };
    for (const RuleCase &row : rows) expect_scattered(row);
}

// What leads outside writes nothing, nor does a NaN there or elsewhere leave its place.
TEST(ComputedScatters, Outside) {
    for (const char *reduction : {"none", "add", "mul", "max", "min"}) {
        SCOPED_TRACE(reduction);
        expect_scattered({"ScatterElements",
                          18,
                          {text("reduction", reduction)},
                          {line({1, -infinity, 3, nan}), list({4, -5, 7, 9, 2, -9}), line({nan, nan, 1, nan, nan, 2})},
                          {line({1, -infinity, nan, nan})}},
                         false);
        expect_scattered({"ScatterND",
                          18,
                          {text("reduction", reduction)},
                          {counted({2, 2}), whole({2, 2}, {0, 2, -3, 1}), line({nan, nan})},
                          {counted({2, 2})}},
                         false);
    }
}

double joined(const std::string &reduction, double a, double b) {
    if (reduction == "add") return a + b;
    if (reduction == "mul") return a * b;
    if (reduction == "max") return std::max(a, b);
    if (reduction == "min") return std::min(a, b);
    return b;
}

// Indices from outside to outside, so that many are there twice.
std::vector<int64_t> drawn_indices(std::mt19937 &random, int64_t count, int64_t extent) {
    std::vector<int64_t> indices(static_cast<size_t>(count));
    for (int64_t &index : indices) {
        index = static_cast<int64_t>(random() % static_cast<uint64_t>(2 * extent + 2)) - extent - 1;
    }
    return indices;
}

Numbers drawn_numbers(std::mt19937 &random, const Shape &shape, Element type) {
    std::vector<double> elements(static_cast<size_t>(*element_count(shape)));
    for (double &element : elements) element = static_cast<double>(random() % 7) - 3;
    if (is_float(type)) return floats(shape, elements, type);
    return whole(shape, {elements.begin(), elements.end()}, type);
}

// Updates one after the other; `place` of an update is -1 where it leads outside.
template<typename Place>
Numbers scattered_in_turn(Numbers data, const Numbers &updates, const std::string &reduction, Place place) {
    std::visit(
        [&](auto &elements) {
            const auto &from = std::get<std::decay_t<decltype(elements)>>(updates.elements);
            for (size_t i = 0; i < from.size(); i++) {
                const int64_t at = place(static_cast<int64_t>(i));
                if (at < 0) continue;
                auto &element = elements[static_cast<size_t>(at)];
                element = joined(reduction, static_cast<double>(element), static_cast<double>(from[i]));
            }
        },
        data.elements);
    return data;
}

int64_t counted_inside(int64_t index, int64_t extent) {
    const int64_t counted = index < 0 ? index + extent : index;
    return counted >= 0 && counted < extent ? counted : -1;
}

struct Drawn {
    Shape data, indices;
    int axis;  // of elements
};

TEST(ComputedScatters, ElementsOneAfterTheOther) {
    std::mt19937 random(test_seed());
    const std::vector<Drawn> rows{
        {{6}, {9}, 0},
        {{5, 3}, {3, 3}, 0},
        {{5, 3}, {7, 2}, 0},
        {{3, 5}, {3, 8}, 1},
        {{4, 6}, {2, 2}, 1},
        {{2, 4, 3}, {2, 5, 3}, 1},
        {{2, 4, 3}, {1, 1, 3}, 1},
        {{3, 2, 4}, {5, 2, 3}, 0},
        {{2, 2, 5}, {1, 2, 6}, 2},
        {{1, 2, 6, 2}, {1, 2, 4, 2}, 2},
    };
    for (const auto &[shape, form, axis] : rows) {
        for (const char *reduction : {"none", "add", "mul", "max", "min"}) {
            for (const Element type : {Element::f32, Element::i32}) {
                const Shape step = row_major_strides(shape), own = row_major_strides(form);
                const int64_t extent = shape[static_cast<size_t>(axis)];
                const Numbers data = drawn_numbers(random, shape, type), updates = drawn_numbers(random, form, type);
                const std::vector<int64_t> indices = drawn_indices(random, *element_count(form), extent);
                const auto place = [&, axis = static_cast<size_t>(axis)](int64_t i) {
                    const int64_t index = counted_inside(indices[static_cast<size_t>(i)], extent);
                    int64_t at = index * step[axis];
                    for (size_t d = 0; d < form.size(); d++) at += d == axis ? 0 : i / own[d] % form[d] * step[d];
                    return index < 0 ? -1 : at;
                };
                SCOPED_TRACE(to_text(shape) + " by " + to_text(form) + " along " + std::to_string(axis) + " " +
                             reduction);
                expect_outputs({.op_type = "ScatterElements",
                                .opset = 18,
                                .attributes = {integer("axis", axis), text("reduction", reduction)},
                                .inputs = {data, whole(form, indices), updates},
                                .outputs = {scattered_in_turn(data, updates, reduction, place)},
                                .network_inputs = 3});
            }
        }
    }
}

TEST(ComputedScatters, BlocksOneAfterTheOther) {
    std::mt19937 random(test_seed());
    const std::vector<Drawn> rows{
        {{6}, {8, 1}, 0},          {{4, 3}, {2, 1}, 0},    {{4, 3}, {7, 1}, 0},          {{3, 2}, {6, 2}, 0},
        {{3, 2, 4}, {2, 3, 2}, 0}, {{3, 2, 4}, {1, 3}, 0}, {{2, 3, 1, 2}, {2, 2, 3}, 0},
    };
    for (const Drawn &row : rows) {
        for (const char *reduction : {"none", "add", "mul", "max", "min"}) {
            const int64_t length = row.indices.back();
            const Shape step = row_major_strides(row.data);
            Shape form(row.indices.begin(), row.indices.end() - 1);
            form.insert(form.end(), row.data.begin() + length, row.data.end());
            const int64_t inner = step[static_cast<size_t>(length) - 1];
            std::vector<int64_t> indices(static_cast<size_t>(*element_count(row.indices)));
            for (size_t i = 0; i < indices.size(); i++)
                indices[i] = drawn_indices(random, 1, row.data[i % static_cast<size_t>(length)])[0];
            const auto place = [&](int64_t i) {
                int64_t at = i % inner;
                for (int64_t k = 0; k < length; k++) {
                    const auto d = static_cast<size_t>(k);
                    const int64_t index =
                        counted_inside(indices[static_cast<size_t>(i / inner * length + k)], row.data[d]);
                    if (index < 0) return int64_t{-1};
                    at += index * step[d];
                }
                return at;
            };
            const Numbers data = drawn_numbers(random, row.data, Element::f32);
            const Numbers updates = drawn_numbers(random, form, Element::f32);
            SCOPED_TRACE(to_text(row.data) + " by " + to_text(row.indices) + " " + reduction);
            expect_outputs({.op_type = "ScatterND",
                            .opset = 18,
                            .attributes = {text("reduction", reduction)},
                            .inputs = {data, whole(row.indices, indices), updates},
                            .outputs = {scattered_in_turn(data, updates, reduction, place)},
                            .network_inputs = 3});
        }
    }
}

// One update of a cache is compared with it where it is copied: no table of both is stored.
TEST(ComputedScatters, UpdatesOfCachesAreElementwise) {
    const auto graph = BuiltModel(18)
                           .input("cache", {1, 8, 4096, 64})
                           .input("i", {1, 8, 1, 64}, Element::i64)
                           .input("u", {1, 8, 1, 64})
                           .node("ScatterElements", {"cache", "i", "u"}, {"y"}, {integer("axis", 2)})
                           .output("y")
                           .lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    for (const Node &node : graph->nodes) {
        EXPECT_TRUE(std::holds_alternative<Elementwise>(node.op) || std::holds_alternative<Reshape>(node.op))
            << to_text(node.op);
        EXPECT_LE(*element_count(graph->values[node.output].form.shape), 8 * 4096 * 64);
    }
}

TEST(ComputedScatters, Refused) {
    struct Bad {
        RuleCase node;
        std::string message;
    };
    const Numbers square = counted({2, 2});
    const std::vector<Bad> rows{
        {{"ScatterElements", 18, {}, {square, list({0}), line({1})}, {}}, "have not the axes of its data"},
        {{"ScatterElements", 18, {}, {square, whole({1, 3}, {0, 0, 0}), counted({1, 3})}, {}},
         "are more than its input of shape 2x2 has along axis 1"},
        {{"ScatterElements", 18, {}, {square, counted({1, 1}), counted({1, 1})}, {}}, "its indices are f32"},
        {{"ScatterElements", 18, {}, {square, whole({1, 1}, {0}), counted({1, 2})}, {}}, "are not 1x1"},
        {{"ScatterElements", 18, {}, {square, whole({1, 1}, {0}), whole({1, 1}, {1})}, {}}, "another type"},
        {{"ScatterElements", 18, {text("reduction", "mean")}, {square, whole({1, 1}, {0}), counted({1, 1})}, {}},
         "its attribute 'reduction' is 'mean'"},
        {{"ScatterND", 18, {}, {square, whole({1, 3}, {0, 0, 0}), line({1})}, {}}, "do not lead into"},
        {{"ScatterND", 18, {}, {square, whole({1, 1}, {0}), line({1, 2})}, {}}, "are not 1x2"},
        {{"ScatterND",
          18,
          {text("reduction", "add")},
          {condition({1}, {0}), whole({1, 1}, {0}), condition({1}, {0})},
          {}},
         "its data are bool"},
    };
    for (const Bad &bad : rows) {
        RuleCase node = bad.node;
        node.outputs = {counted({1})};
        node.network_inputs = 3;
        expect_refused(model_of(node), bad.message);
    }
    expect_refused(BuiltModel(18)
                       .input("x", {1 << 20, 2})
                       .input("i", {1 << 10, 1}, Element::i64)
                       .input("u", {1 << 10, 2})
                       .node("ScatterND", {"x", "i", "u"}, {"y"})
                       .output("y"),
                   "its input 'indices' is known only when the network runs, and each of 1048576 elements would be "
                   "compared with 1024 of them, which takes more than 134217728 comparisons; export the model");
}

}  // namespace
}  // namespace kiln::graph
