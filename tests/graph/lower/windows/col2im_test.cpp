// Col2Im beside plain loops.
#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

struct ColumnCase {
    std::vector<int64_t> image, block;
    int64_t batch = 2, channels = 2;
    std::vector<int64_t> strides = {}, pads = {}, dilations = {};

    int64_t of(const std::vector<int64_t> &list, size_t at, int64_t absent) const {
        return list.empty() ? absent : list[at];
    }
    int64_t windows(size_t d) const {
        const int64_t padded = image[d] + of(pads, d, 0) + of(pads, d + image.size(), 0);
        return (padded - (block[d] - 1) * of(dilations, d, 1) - 1) / of(strides, d, 1) + 1;
    }
};

// The indices of element `at` of an array of these extents.
std::vector<int64_t> indices_in(std::vector<int64_t> extents, int64_t at) {
    for (size_t d = extents.size(); d-- > 0;) {
        const int64_t extent = extents[d];
        extents[d] = at % extent;
        at /= extent;
    }
    return extents;
}

RuleCase column_row(const ColumnCase &c) {
    std::vector<int64_t> counts;
    for (size_t d = 0; d < c.image.size(); d++) counts.push_back(c.windows(d));
    const int64_t taps = *element_count(c.block), windows = *element_count(counts), pixels = *element_count(c.image);
    const Numbers x = counted({c.batch, c.channels * taps, windows});
    std::vector<double> y(static_cast<size_t>(c.batch * c.channels * pixels));
    for (int64_t i = 0; i < c.batch * c.channels * taps * windows; i++) {
        const std::vector<int64_t> window = indices_in(counts, i % windows),
                                   tap = indices_in(c.block, i / windows % taps);
        int64_t at = i / windows / taps;
        bool is_inside = true;
        for (size_t d = 0; d < c.image.size(); d++) {
            const int64_t place =
                window[d] * c.of(c.strides, d, 1) + tap[d] * c.of(c.dilations, d, 1) - c.of(c.pads, d, 0);
            is_inside = is_inside && place >= 0 && place < c.image[d];
            at = at * c.image[d] + place;
        }
        if (is_inside) y[static_cast<size_t>(at)] += std::get<0>(x.elements)[static_cast<size_t>(i)];
    }
    RuleCase row{"Col2Im", 18, {}, {x, list(c.image), list(c.block)}, {}};
    for (const auto &[name, values] :
         {std::pair("strides", c.strides), std::pair("pads", c.pads), std::pair("dilations", c.dilations)}) {
        if (!values.empty()) row.attributes.push_back(integers(name, values));
    }
    Shape shape{c.batch, c.channels};
    shape.insert(shape.end(), c.image.begin(), c.image.end());
    row.outputs = {floats(shape, std::move(y))};
    return row;
}

TEST(Col2Im, ImagesOfBlocks) {
    const std::vector<ColumnCase> rows{
        {{5, 5}, {1, 5}, 1, 1},
        {{5, 5}, {3, 2}},
        {{6, 4}, {2, 2}, 2, 3, {2, 2}},
        {{5, 5}, {3, 3}, 1, 1, {2, 2}},
        {{5, 5}, {1, 5}, 1, 2, {}, {0, 1, 0, 1}},
        {{4, 5}, {3, 2}, 2, 1, {2, 1}, {1, 0, 2, 3}},
        {{6, 6}, {2, 2}, 1, 2, {}, {}, {1, 5}},
        {{7, 6}, {2, 3}, 1, 2, {3, 1}, {1, 1, 0, 2}, {2, 2}},
        {{5, 5}, {2, 2}, 1, 1, {3, 3}},  // places that no window reaches
        {{3, 4, 5}, {1, 1, 5}},
        {{3, 4, 5}, {2, 3, 2}, 1, 2, {1, 1, 2}},
        {{6}, {3}},
    };
    for (const ColumnCase &c : rows) {
        SCOPED_TRACE(to_text(c.image) + " of " + to_text(c.block));
        expect_outputs(column_row(c));
    }
}

TEST(Col2Im, BlocksSideBySideAreMoved) {
    const auto moved = model_of(column_row({{6, 4}, {2, 2}, 2, 3, {2, 2}})).lowered();
    ASSERT_TRUE(moved) << moved.error().message;
    EXPECT_EQ(operators(*moved).find("sum"), std::string::npos) << operators(*moved);
}

TEST(Col2Im, Refused) {
    struct Bad {
        std::vector<std::optional<Numbers>> inputs;
        std::vector<onnx::Attribute> attributes;
        std::string message;
    };
    const Numbers x = counted({1, 4, 9});
    const std::vector<Bad> rows{
        {{counted({1, 4, 8}), list({4, 4}), list({2, 2})},
         {},
         "its input of shape 1x4x8 is not Nx(C * 4)x9, as its image of 4x4 and its blocks of 2x2 ask for"},
        {{counted({1, 6, 9}), list({4, 4}), list({2, 2})}, {}, "its input of shape 1x6x9 is not Nx(C * 4)x9"},
        {{counted({4, 9}), list({4, 4}), list({2, 2})}, {}, "its input of shape 4x9 is not Nx(C * 4)x9"},
        {{x, list({4, 4}), list({2, 2, 2})}, {}, "its image of 4x4 does not consist of blocks of 2x2x2"},
        {{x, list({4, 0}), list({2, 2})}, {}, "its image of 4x0 does not consist of blocks of 2x2"},
        {{x, list({4, 4}), list({2, -2})}, {}, "its image of 4x4 does not consist of blocks of 2x-2"},
        {{x, list({4, 4}), list({5, 2})}, {}, "its image of 4x4 has no room for a block of 5x2"},
        {{x, list({4, 4}), list({2, 2})}, {integers("strides", {2})}, "its attribute 'strides' has 1 entries"},
        {{x, list({4, 4}), list({2, 2})}, {integers("pads", {1, 1})}, "its attribute 'pads' has 2 entries"},
        {{x, list({4, 4}), list({2, 2})},
         {integers("pads", {0, 0, -1, 0})},
         "its attribute 'pads' has negative entries"},
        {{x, list({4, 4}), list({int64_t{1} << 33, 2})}, {}, "does not consist of blocks of 8589934592x2"},
        {{counted({1, 1, 1}), list(std::vector<int64_t>(20, 1 << 24)), list(std::vector<int64_t>(20, 1))},
         {integers("strides", std::vector<int64_t>(20, 1 << 30))},
         "has more than 2^40 elements"},
        {{x, line({4, 4}), list({2, 2})}, {}, "its input 'image_shape' must have integers"},
    };
    for (const Bad &bad : rows) {
        const RuleCase row{"Col2Im", 18, bad.attributes, bad.inputs, {counted({1})}};
        expect_refused(model_of(row), bad.message);
    }
}

}  // namespace
}  // namespace kiln::graph
