// Values for tests, and the check that most of them make.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "graph/evaluate/evaluate.h"

namespace kiln::graph {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

inline Numbers floats(Shape shape, std::vector<double> elements, Element type = Element::f32) {
    return {{type, std::move(shape)}, std::move(elements)};
}

inline Numbers integers(Shape shape, std::vector<int64_t> elements, Element type = Element::i64) {
    return {{type, std::move(shape)}, std::move(elements)};
}

// 0, 1, 2, ...
inline Numbers counted(Shape shape, double first = 0) {
    std::vector<double> elements(*element_count(shape));
    for (double &element : elements) element = first++;
    return floats(std::move(shape), std::move(elements));
}

inline Result<Numbers> evaluate_all(const Operator &op, const std::vector<Numbers> &inputs) {
    std::vector<const Numbers *> pointers;
    for (const Numbers &input : inputs) pointers.push_back(&input);
    return evaluate(op, pointers);
}

// NaN is equal to NaN here.
inline void expect_result(const Operator &op, const std::vector<Numbers> &inputs, const Numbers &expected,
                          double tolerance = 1e-12) {
    SCOPED_TRACE(to_text(op));
    const auto result = evaluate_all(op, inputs);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(name(result->form.type), name(expected.form.type));
    EXPECT_EQ(to_text(result->form.shape), to_text(expected.form.shape));
    ASSERT_EQ(result->elements.index(), expected.elements.index());
    if (result->elements.index() == 1) {
        EXPECT_EQ(std::get<1>(result->elements), std::get<1>(expected.elements));
        return;
    }
    const auto &got = std::get<0>(result->elements), &wanted = std::get<0>(expected.elements);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); i++) {
        const bool is_equal = got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i])) ||
                              std::abs(got[i] - wanted[i]) <= tolerance * std::max(1.0, std::abs(wanted[i]));
        EXPECT_TRUE(is_equal) << "element " << i << " is " << got[i] << ", not " << wanted[i];
    }
}

inline void expect_error(const Operator &op, const std::vector<Numbers> &inputs, const std::string &part) {
    const auto result = evaluate_all(op, inputs);
    ASSERT_FALSE(result) << to_text(op);
    EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

}  // namespace kiln::graph
