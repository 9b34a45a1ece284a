// Graphs, and which of their nodes are workloads.
#include "graph/workloads/network_workloads.h"

#include <gtest/gtest.h>

namespace kiln::graph {
namespace {

class Network {
public:
    ValueId input(Shape shape) { return builder_.input("", {Element::f32, std::move(shape)}); }
    ValueId node(Operator op, std::vector<ValueId> inputs, std::vector<std::string> origins = {}) {
        const Result<ValueId> id = builder_.node(std::move(op), std::move(inputs), "value", std::move(origins));
        EXPECT_TRUE(id) << id.error().message;
        return id ? *id : 0;
    }
    void output(ValueId id) { builder_.output("y" + std::to_string(id), id); }

    // "name key" of each workload, "count what" of the others.
    std::vector<std::string> texts() const {
        const NetworkWorkloads workloads = workloads_of(builder_.graph());
        std::vector<std::string> all;
        for (const NodeWorkload &node : workloads.nodes) all.push_back(node.name + " " + key(node.workload));
        for (const auto &[what, count] : workloads.others) all.push_back(std::to_string(count) + " " + what);
        return all;
    }

private:
    GraphBuilder builder_;
};

const Convolution one_by_one{
    .strides = {1, 1}, .input_dilation = {1, 1}, .dilations = {1, 1}, .padding = {{0, 0}, {0, 0}}};

ValueId relu(Network &network, ValueId x, Shape shape) {
    return network.node(Elementwise{apply(Function::maximum, operand(0), constant(0)), std::move(shape)}, {x});
}

// The three nodes of SpaceToDepth: x of 1x3x8x8.
ValueId split(Network &network, ValueId x) { return network.node(Reshape{{1, 3, 4, 2, 4, 2}}, {x}); }
const Transpose turn{{0, 3, 5, 1, 2, 4}};
const Reshape join{{1, 12, 4, 4}};

TEST(NetworkWorkloads, NodesAreNamedAndOthersCounted) {
    Network network;
    const ValueId x = network.input({1, 3, 8, 8}), w = network.input({4, 3, 1, 1}), a = network.input({2, 5, 6}),
                  b = network.input({2, 6, 7});
    const ValueId y = network.node(one_by_one, {x, w}, {"stem/conv", "stem/relu"});
    network.node(one_by_one, {x, w});
    relu(network, relu(network, y, {1, 4, 8, 8}), {1, 4, 8, 8});
    network.node(MatrixProduct{}, {a, b});
    network.node(Reshape{{4, 64}}, {y});
    EXPECT_EQ(network.texts(), (std::vector<std::string>{"stem/conv conv2d/input:1x8x8x3/kernel:1x1x3x4",
                                                         "value_6 conv2d/input:1x8x8x3/kernel:1x1x3x4", "2 elementwise",
                                                         "1 matrix_product with a matrix for each image"}));
}

TEST(NetworkWorkloads, ShufflesAreThreeNodes) {
    const std::vector<std::string> shuffle = {"s2d space_to_depth/input:1x8x8x3/block:2x2"};
    {
        Network network;
        const ValueId parts = split(network, network.input({1, 3, 8, 8}));
        network.output(network.node(join, {network.node(turn, {parts})}, {"s2d"}));
        EXPECT_EQ(network.texts(), shuffle);
    }
    {  // somebody else needs what is between
        Network network;
        const ValueId parts = split(network, network.input({1, 3, 8, 8}));
        const ValueId turned = network.node(turn, {parts});
        network.output(network.node(join, {turned}, {"s2d"}));
        network.output(turned);
        EXPECT_EQ(network.texts(), std::vector<std::string>{"1 transpose"});
    }
    {
        Network network;
        const ValueId parts = split(network, network.input({1, 3, 8, 8}));
        network.output(network.node(join, {network.node(turn, {parts})}, {"s2d"}));
        network.output(relu(network, parts, {1, 3, 4, 2, 4, 2}));
        EXPECT_EQ(network.texts(), (std::vector<std::string>{"1 elementwise", "1 transpose"}));
    }
}

}  // namespace
}  // namespace kiln::graph
