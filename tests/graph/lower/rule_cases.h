// One node of ONNX, computed: a row says what goes in and what comes out.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tests/graph/lower/built_model.h"

namespace kiln::graph {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline const std::optional<Numbers> none;

struct RuleCase {
    std::string op_type;
    int64_t opset;
    std::vector<onnx::Attribute> attributes;
    std::vector<std::optional<Numbers>>
        inputs;  // the first is an input of the network, the others are constants; none: left out
    std::vector<Numbers> outputs;
    std::string domain = "";
    size_t network_inputs = 1;  // so many of the inputs are not constants
};

inline BuiltModel model_of(const RuleCase &row) {
    BuiltModel model(row.opset);
    std::vector<std::string> inputs, outputs;
    for (size_t i = 0; i < row.inputs.size(); i++) {
        inputs.push_back(row.inputs[i] ? "in" + std::to_string(i) : "");
        if (!row.inputs[i]) continue;
        if (i < row.network_inputs) model.input(inputs.back(), row.inputs[i]->form.shape, row.inputs[i]->form.type);
        if (i >= row.network_inputs) model.constant(inputs.back(), *row.inputs[i]);
    }
    for (size_t i = 0; i < row.outputs.size(); i++) outputs.push_back("out" + std::to_string(i));
    model.node(row.op_type, inputs, outputs, row.attributes, row.domain);
    for (const std::string &output : outputs) model.output(output);
    return model;
}

// `tolerance` is of the larger one of 1 and a number.
inline void expect_numbers(const Numbers &got, const Numbers &expected, double tolerance = 1e-6) {
    EXPECT_EQ(name(got.form.type), name(expected.form.type));
    ASSERT_EQ(to_text(got.form.shape), to_text(expected.form.shape));
    ASSERT_EQ(got.elements.index(), expected.elements.index());
    if (got.elements.index() == 1) {
        EXPECT_EQ(std::get<1>(got.elements), std::get<1>(expected.elements));
        return;
    }
    const auto &a = std::get<0>(got.elements), &b = std::get<0>(expected.elements);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); i++) {
        const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
        EXPECT_TRUE(same || std::abs(a[i] - b[i]) <= tolerance * std::max(1.0, std::abs(b[i])))
            << "element " << i << ": " << a[i] << " instead of " << b[i];
    }
}

// The first output of a model of any nodes.
inline void expect_result_of(const BuiltModel &model, const std::vector<Numbers> &inputs, const Numbers &expected,
                             double tolerance = 1e-6) {
    const auto graph = model.lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    const auto outputs = evaluate(*graph, inputs);
    ASSERT_TRUE(outputs) << outputs.error().message;
    expect_numbers(outputs->front(), expected, tolerance);
}

inline void expect_refused(const BuiltModel &model, const std::string &message) {
    const auto graph = model.lowered();
    ASSERT_FALSE(graph) << message;
    EXPECT_NE(graph.error().message.find(message), std::string::npos) << graph.error().message;
}

inline void expect_refused(const BuiltModel &model, ErrorCode code, const std::string &message) {
    expect_refused(model, message);
    const auto graph = model.lowered();
    ASSERT_FALSE(graph);
    EXPECT_EQ(graph.error().code, code) << graph.error().message;
}

inline void expect_outputs(const RuleCase &row) {
    SCOPED_TRACE(row.op_type + " of opset " + std::to_string(row.opset));
    const auto graph = model_of(row).lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    std::vector<Numbers> inputs;
    for (size_t i = 0; i < std::min(row.inputs.size(), row.network_inputs); i++) {
        if (row.inputs[i]) inputs.push_back(*row.inputs[i]);
    }
    const auto outputs = evaluate(*graph, inputs);
    ASSERT_TRUE(outputs) << outputs.error().message;
    ASSERT_EQ(outputs->size(), row.outputs.size());
    for (size_t i = 0; i < outputs->size(); i++) expect_numbers((*outputs)[i], row.outputs[i]);
}

inline Numbers line(std::vector<double> elements) {
    const Shape shape{static_cast<int64_t>(elements.size())};
    return floats(shape, std::move(elements));
}

}  // namespace kiln::graph
