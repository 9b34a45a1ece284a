// Nests of nodes whose inputs or results lie in blocks of channels.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "network/axis_order.h"
#include "network/layout_options.h"
#include "network/node_nests.h"

namespace kiln::network {
namespace {

using namespace graph;

struct Tensor {
    Shape shape;
    Order order;
};

Tensor first(Shape shape) { return {shape, row_major(shape.size())}; }
Tensor last(Shape shape) { return {shape, channels_last(shape.size())}; }
Tensor blocks(Shape shape) { return {shape, in_blocks(shape.size(), 4)}; }

// The key of the nest, or why there is none.
std::string told(const Operator &op, const std::vector<Tensor> &inputs, const Tensor &result) {
    std::vector<TypedShape> forms;
    std::vector<Storage> storages;
    for (const Tensor &tensor : inputs) {
        const bool are_places = std::holds_alternative<Gather>(op) && !forms.empty();
        forms.push_back({are_places ? Element::i32 : Element::f32, tensor.shape});
    }
    forms.push_back({Element::f32, result.shape});
    for (size_t i = 0; i < inputs.size(); i++) storages.push_back(storage_of(forms[i], inputs[i].order));
    storages.push_back(storage_of(forms.back(), result.order));
    StoredNode node{{}, {&forms.back(), &storages.back()}};
    for (size_t i = 0; i < inputs.size(); i++) node.inputs.push_back({&forms[i], &storages[i]});
    return std::visit(
        [&](const auto &operation) -> std::string {
            if constexpr (requires { nest_of(operation, node); }) {
                const auto nest = nest_of(operation, node);
                return nest ? key(nest_workload(nest->nest)) : nest.error().message;
            }
            return "no nest";
        },
        op);
}

Operator slice(std::vector<int64_t> channels) {
    return Resample{{{.axis = 1, .taps = 1, .indices = std::move(channels), .weights = {}}}, 0};
}

TEST(NestsInBlocks, GoBlockByBlock) {
    const Operator move = Transpose{{0, 1, 2, 3}};
    const Operator pool = Pool{.kind = Pool::Kind::maximum,
                               .window = {2, 2},
                               .strides = {2, 2},
                               .dilations = {1, 1},
                               .padding = {{0, 0}, {0, 0}}};
    const Operator add = Elementwise{*parse_expression("add(x0,x1)"), {1, 8, 3, 5}};
    const Operator mean = Reduce{Reduce::Kind::mean, {1}};
    const struct {
        const char *what;
        Operator op;
        std::vector<Tensor> inputs;
        Tensor result;
        std::string key;
    } cases[] = {
        {"into blocks",
         move,
         {last({1, 8, 3, 5})},
         blocks({1, 8, 3, 5}),
         "nest/loops:2x15x4/operands:15x8/reads:x0[i1,4*i0+i2]/term:x0"},
        {"out of blocks",
         move,
         {blocks({1, 8, 3, 5})},
         first({1, 8, 3, 5}),
         "nest/loops:2x4x15/operands:2x15x4/reads:x0[i0,i2,i1]/term:x0"},
        {"a block is all channels",
         move,
         {blocks({1, 4, 3, 5})},
         first({1, 4, 3, 5}),
         "nest/loops:4x15/operands:15x4/reads:x0[i1,i0]/term:x0"},
        {"what lies alike",
         add,
         {blocks({1, 8, 3, 5}), blocks({1, 8, 3, 5})},
         blocks({1, 8, 3, 5}),
         "nest/loops:120/operands:120,120/reads:x0[i0];x1[i0]/term:add(x0,x1)"},
        {"a number for each channel",
         add,
         {blocks({1, 8, 3, 5}), first({8, 1, 1})},
         blocks({1, 8, 3, 5}),
         "nest/loops:2x15x4/operands:2x15x4,8/reads:x0[i0,i1,i2];x1[4*i0+i2]/term:add(x0,x1)"},
        {"a number for each channel and row, in blocks",
         add,
         {last({1, 8, 3, 5}), blocks({1, 8, 3, 1})},
         last({1, 8, 3, 5}),
         "nest/loops:3x5x2x4/operands:3x5x8,2x3x4/reads:x0[i0,i1,4*i2+i3];x1[i2,i0,i3]/term:add(x0,x1)"},
        {"blocks of two axes",
         Elementwise{*parse_expression("add(x0,x1)"), {1, 8, 8, 5}},
         {blocks({1, 8, 8, 1}), {{1, 1, 8, 5}, {{0, 2, 1, 3, 2}, 4}}},
         first({1, 8, 8, 5}),
         "nest/loops:2x4x2x4x5/operands:2x8x4,2x5x4/reads:x0[i0,4*i2+i3,i1];x1[i2,i4,i3]/term:add(x0,x1)"},
        {"pool",
         pool,
         {blocks({1, 8, 4, 6})},
         blocks({1, 8, 2, 3}),
         "nest/loops:2x2x3x4/over:2x2/operands:2x4x6x4/reduction:maximum/reads:x0[i0,2*i1+r0,2*i2+r1,i3]/term:x0"},
        {"sum over channels",
         mean,
         {blocks({1, 8, 3, 5})},
         first({1, 1, 3, 5}),
         "nest/loops:15/over:2x4/operands:2x15x4/reduction:mean/reads:x0[r0,i0,r1]/term:x0"},
        {"channels in blocks are summed by a product",
         MatrixProduct{},
         {first({1, 3, 8}), blocks({1, 8, 5})},
         first({1, 3, 5}),
         "nest/loops:3x5/over:2x4/operands:3x8,2x5x4/reduction:sum/reads:x0[i0,4*r0+r1];x1[r0,i1,r1]/term:mul(x0,x1)"},
        {"whole blocks of a slice",
         slice({4, 5, 6, 7}),
         {blocks({2, 8, 3, 5})},
         blocks({2, 4, 3, 5}),
         "nest/loops:2x60/operands:2x2x60/reads:x0[i0,1,i1]/term:x0"},
        {"images behind channels",
         Transpose{{1, 0, 2, 3}},
         {blocks({2, 8, 3, 5})},
         first({8, 2, 3, 5}),
         "nest/loops:2x4x2x15/operands:2x2x15x4/reads:x0[i2,i0,i3,i1]/term:x0"},
        {"places that lie channels-last",
         Gather{0},
         {first({256}), last({1, 8, 3, 5})},
         last({1, 8, 3, 5}),
         "nest/loops:3x5x8/operands:3x5x8,256/reads:x1[x0[i0,i1,i2]]/term:x0"},
        {"parts of blocks",
         slice({2, 3, 4, 5}),
         {blocks({1, 8, 3, 5})},
         blocks({1, 4, 3, 5}),
         "that reads parts of blocks"},
        {"channels in another order",
         slice({7, 6, 5, 4, 3, 2, 1, 0}),
         {blocks({1, 8, 3, 5})},
         blocks({1, 8, 3, 5}),
         "that reads parts of blocks"},
    };
    for (const auto &c : cases) EXPECT_EQ(told(c.op, c.inputs, c.result), c.key) << c.what;
}

}  // namespace
}  // namespace kiln::network
