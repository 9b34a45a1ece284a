// RotaryEmbedding against plain loops.
#include <functional>

#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

struct Rotary {
    static constexpr int64_t batch = 2, heads = 3, places = 4, features = 8, rows = 9;

    bool is_interleaved = false, has_three_axes = false;
    int64_t turned = 0;  // 0: all features
    std::vector<int64_t> position_ids =
        {};  // batch x places, or for onnxruntime's the first one; none: caches have a row for each
    bool is_of_onnxruntime = false;
    size_t network_inputs = 1;

    int64_t half() const { return (turned == 0 ? features : turned) / 2; }
    bool has_ids() const { return !position_ids.empty(); }
};

double cached(int64_t i, int64_t seed) { return static_cast<double>((i * 37 + seed * 11) % 101 - 50) / 64; }

Numbers cache_of(const Shape &shape, int64_t seed) {
    std::vector<double> elements;
    for (int64_t i = 0; i < *element_count(shape); i++) elements.push_back(cached(i, seed));
    return floats(shape, elements);
}

// Where an element of the input lies.
int64_t place_of(const Rotary &c, int64_t b, int64_t h, int64_t s) {
    return c.has_three_axes ? (b * Rotary::places + s) * Rotary::heads + h
                            : (b * Rotary::heads + h) * Rotary::places + s;
}

Numbers expected(const Rotary &c, const Numbers &x) {
    Numbers y = x;
    for (int64_t i = 0; i < Rotary::batch * Rotary::heads * Rotary::places; i++) {
        const int64_t b = i / Rotary::places / Rotary::heads, h = i / Rotary::places % Rotary::heads,
                      s = i % Rotary::places;
        const auto at = static_cast<size_t>(place_of(c, b, h, s) * Rotary::features);
        const auto id = static_cast<size_t>(b * Rotary::places + s);
        const int64_t row = !c.has_ids()                 ? b * Rotary::places + s
                            : c.position_ids.size() == 1 ? c.position_ids[0] + s
                                                         : c.position_ids[id];
        for (int64_t pair = 0; pair < c.half(); pair++) {
            const double cosine = cached(row * c.half() + pair, 2), sine = cached(row * c.half() + pair, 3);
            const auto first = at + static_cast<size_t>(c.is_interleaved ? 2 * pair : pair);
            const auto second = first + static_cast<size_t>(c.is_interleaved ? 1 : c.half());
            const double x1 = std::get<0>(x.elements)[first], x2 = std::get<0>(x.elements)[second];
            std::get<0>(y.elements)[first] = cosine * x1 - sine * x2;
            std::get<0>(y.elements)[second] = sine * x1 + cosine * x2;
        }
    }
    return y;
}

RuleCase row_of(const Rotary &c) {
    const Numbers x = cache_of(c.has_three_axes ? Shape{Rotary::batch, Rotary::places, Rotary::heads * Rotary::features}
                                                : Shape{Rotary::batch, Rotary::heads, Rotary::places, Rotary::features},
                               1);
    const Shape cache = c.has_ids() ? Shape{Rotary::rows, c.half()} : Shape{Rotary::batch, Rotary::places, c.half()};
    RuleCase row{"RotaryEmbedding", 23, {}, {x, cache_of(cache, 2), cache_of(cache, 3)}, {expected(c, x)}};
    row.network_inputs = c.network_inputs;
    const bool has_one = c.position_ids.size() == 1;
    if (c.has_ids())
        row.inputs.insert(row.inputs.begin() + (c.is_of_onnxruntime ? 1 : 3),
                          has_one ? list(c.position_ids) : whole({Rotary::batch, Rotary::places}, c.position_ids));
    if (c.is_of_onnxruntime) row.domain = "com.microsoft", row.opset = 1;
    if (c.is_interleaved) row.attributes.push_back(integer("interleaved", 1));
    if (c.turned > 0) row.attributes.push_back(integer("rotary_embedding_dim", c.turned));
    if (c.has_three_axes && (!c.is_of_onnxruntime || c.turned > 0))
        row.attributes.push_back(integer("num_heads", Rotary::heads));
    return row;
}

TEST(RotaryEmbedding, PairsOfFeaturesAreTurned) {
    const std::vector<int64_t> ids{0, 3, 8, 1, 2, 2, 7, 5};
    for (const bool is_interleaved : {false, true}) {
        for (const bool has_three_axes : {false, true}) {
            for (const int64_t turned : {0, 4}) {
                for (const std::vector<int64_t> &places_in_cache : {std::vector<int64_t>{}, ids}) {
                    // Caches and places are constants, or some of them are computed.
                    for (const size_t network_inputs : {1, 3, 4}) {
                        Rotary c{is_interleaved, has_three_axes, turned, places_in_cache};
                        c.network_inputs = network_inputs;
                        expect_outputs(row_of(c));
                        if (!c.has_ids()) continue;
                        c.is_of_onnxruntime = true;
                        expect_outputs(row_of(c));
                        c.position_ids = {3};
                        expect_outputs(row_of(c));
                    }
                }
            }
        }
    }
}

// Numbers of the caches are put in order beforehand.
TEST(RotaryEmbedding, TakesFewNodes) {
    const auto graph = model_of(row_of({.position_ids = {0, 3, 8, 1, 2, 2, 7, 5}})).lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(operators(*graph), "resample elementwise");
}

TEST(RotaryEmbedding, Refused) {
    struct Bad {
        std::function<void(RuleCase &)> change;
        std::string message;
    };
    const std::vector<int64_t> ids{0, 3, 8, 1, 2, 2, 7, 9};
    const Rotary plain{}, three_axes{.has_three_axes = true}, outside{.position_ids = ids};
    const Rotary first_outside{.position_ids = {6}, .is_of_onnxruntime = true};
    const std::vector<std::pair<Rotary, Bad>> bad_rows{
        {three_axes, {[](RuleCase &row) { row.attributes.clear(); }, "'num_heads'"}},
        {three_axes,
         {[](RuleCase &row) { row.attributes[0] = integer("num_heads", 7); }, "does not divide into 7 heads"}},
        {plain,
         {[](RuleCase &row) {
              row.inputs[0] = counted({2, 3});
          },
          "has neither 3 nor 4 axes"}},
        {plain,
         {[](RuleCase &row) { row.attributes = {integer("rotary_embedding_dim", 3)}; }, "it turns 3 of 8 features"}},
        {plain,
         {[](RuleCase &row) { row.attributes = {integer("rotary_embedding_dim", 10)}; }, "it turns 10 of 8 features"}},
        {plain,
         {[](RuleCase &row) {
              row.inputs[0] = counted({2, 3, 4, 7});
          },
          "it turns 7 of 7 features of a head; needs an even number up to 7 (attribute 'rotary_embedding_dim'"}},
        {plain,
         {[](RuleCase &row) {
              row.inputs[2] = counted({2, 4, 3});
          },
          "of shape 2x4x3; needs 2x4x4"}},
        {plain,
         {[](RuleCase &row) {
              row.inputs[1] = counted({4, 4});
          },
          "of shape 4x4; needs 2x4x4"}},
        {plain, {[](RuleCase &row) { row.inputs[1]->form.type = Element::f16; }, "its cache is f16"}},
        {outside, {[](RuleCase &) {}, "place 9 is not within its cache of shape 9x4"}},
        {first_outside, {[](RuleCase &) {}, "its places are not within its cache of shape 9x4"}},
        {first_outside,
         {[](RuleCase &row) {
              row.inputs[1] = line({1});
              row.network_inputs = 2;
          },
          "its places are f32"}},
        {first_outside,
         {[](RuleCase &row) { row.attributes = {integer("is_packed_batching", 1)}; }, "'is_packed_batching'"}},
        {first_outside, {[](RuleCase &row) { row.attributes = {real("scale", 2)}; }, "'scale'"}},
    };
    for (const auto &[c, bad] : bad_rows) {
        SCOPED_TRACE(bad.message);
        RuleCase row = row_of(c);
        bad.change(row);
        expect_refused(model_of(row), bad.message);
    }
}

}  // namespace
}  // namespace kiln::graph
