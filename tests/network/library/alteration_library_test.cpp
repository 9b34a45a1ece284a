// Libraries of users: the example, and all that may be wrong with one.
#include "network/library/alteration_library.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>

#include "graph/passes/passes.h"
#include "network/alter/alter.h"
#include "network/library/alteration.h"
#include "network/library/operator_fields.h"
#include "tests/graph/passes/quantized_graphs.h"
#include "tests/graph/passes/random_graphs.h"
#include "tests/graph/passes/sketch.h"
#include "tests/test_seed.h"

namespace kiln::network {
namespace {

using namespace graph;
using Ids = std::vector<ValueId>;

std::string library(const std::string &name) { return std::string(LIBRARY_FOLDER) + "/lib" + name + ".so"; }

int axis_of(const Operator &op) {
    const auto *gather = std::get_if<Gather>(&op);
    return gather ? gather->axis : std::get<Concat>(op).axis;
}

bool holds(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

TEST(AlterationLibrary, ExampleIsUsedWhereItPays) {
    const auto loaded = load_alterations(library("kiln_example_alteration"));
    ASSERT_TRUE(loaded) << loaded.error().message;
    ASSERT_EQ(loaded->size(), 1u);
    Sketch s(1);
    const ValueId x = s.input({1, 16, 40, 40});
    const Pool pool{Pool::Kind::maximum, {2, 2}, {2, 2}, {1, 1}, {{}, {}}, {0, 0}, false};
    const Graph graph = std::move(s).finish(Ids{s.node(pool, {s.elementwise("max(x0,0)", {x})})});
    const auto altered = alter(graph, *loaded, {});
    ASSERT_TRUE(altered) << altered.error().message;
    ASSERT_EQ(altered->notes.size(), 1u);
    EXPECT_TRUE(altered->notes[0].is_chosen);
    EXPECT_EQ(altered->notes[0].alteration, "relu_behind_pool");
    ASSERT_EQ(altered->graph.nodes.size(), 2u);
    EXPECT_TRUE(std::holds_alternative<Pool>(altered->graph.nodes[0].op));
    expect_equal_outputs(graph, altered->graph, 1, {.tolerance = 0});
}

TEST(AlterationLibrary, WhatIsWrongWithATableIsSaid) {
    const struct {
        std::string file, message;
    } cases[] = {
        {"/nowhere/libmine.so", "/nowhere/libmine.so: is no file"},
        {"/", "is no file"},
        {"/proc/self/status", "cannot be loaded"},
        {library("kiln_not_a_library_of_alterations"), "has no function `kiln_alterations_of_library`"},
        {library("kiln_faulty_alterations_1"), "is of version 2 of alteration.h, this kiln of 1"},
        {library("kiln_faulty_alterations_2"), "answers no table"},
        {library("kiln_faulty_alterations_3"), "the name `throws` is taken"},
        {library("kiln_faulty_alterations_4"), "`no_function`: has no function"},
        {library("kiln_faulty_alterations_5"), "has no name of letters, digits and _"},
        {library("kiln_faulty_alterations_6"), "threw an exception"},
        {library("kiln_faulty_alterations_7"), "answers no table"},
    };
    for (const auto &c : cases) {
        const auto loaded = load_alterations(c.file);
        ASSERT_FALSE(loaded) << c.file;
        EXPECT_TRUE(holds(loaded.error().message, c.message)) << loaded.error().message;
    }
}

// Libraries of users have these structs compiled in. Those of which there are arrays never grow; of the table, kiln reads no more than
// the first header had, whatever a library's own has behind that.
TEST(AlterationLibrary, TablesOfOtherHeadersAreRead) {
    static_assert(sizeof(void *) != 8 || sizeof(kiln_field) == 32);
    static_assert(sizeof(void *) != 8 || sizeof(kiln_alteration) == 24);
    static_assert(sizeof(void *) != 8 || offsetof(kiln_alterations, items) == 16);
    static_assert(sizeof(void *) != 8 || offsetof(kiln_alteration_tools, fail) == 88);
    const auto usual = load_alterations(library("kiln_faulty_alterations_0"));
    const auto longer = load_alterations(library("kiln_faulty_alterations_8"));
    ASSERT_TRUE(usual);
    ASSERT_TRUE(longer) << longer.error().message;
    EXPECT_EQ(longer->size(), usual->size());
}

TEST(AlterationLibrary, WhatIsWrongWithAnAlterationIsSaid) {
    const std::string file = library("kiln_faulty_alterations_0");
    const auto loaded = load_alterations(file);
    ASSERT_TRUE(loaded) << loaded.error().message;
    Sketch s(1);
    const ValueId x = s.input({40, 50});
    const ValueId y = s.elementwise("max(x0,0)", {x});
    const Graph graph = std::move(s).finish(Ids{s.elementwise("max(x0,0)", {y})});
    const std::map<std::string, std::string> messages{
        {"throws", "out of luck"},
        {"throws_a_number", "it threw an exception"},
        {"unknown_value", "reads value 12345, which is unknown"},
        {"huge_value", "is replaced by value -1, which is unknown"},
        {"other_shape", "is f32 40x50, but what replaces it is f32 50x40"},
        {"cycle", "depends on itself"},
        {"unknown_operator", "`magic` is no operator"},
        {"unknown_field", "operator `elementwise`, field `magic`: is unknown"},
        {"no_whole_number", "field `shape`: needs whole numbers"},
        {"bad_expression", "field `expression`: "},
        {"bad_constant", "type `f33`"},
        {"wrong_values", "has other values after it than before"},
    };
    ASSERT_EQ(loaded->size(), messages.size());
    for (const Alteration &alteration : *loaded) {
        const auto altered = alter(graph, std::vector{alteration}, {});
        ASSERT_FALSE(altered) << alteration.name;
        const std::string &message = altered.error().message;
        EXPECT_TRUE(holds(message, messages.at(alteration.name))) << message;
        EXPECT_TRUE(holds(message, "alteration `" + alteration.name + "`: ")) << message;
        EXPECT_TRUE(holds(message, "at node '")) << message;
        EXPECT_TRUE(holds(message, file)) << message;
    }
}

TEST(OperatorFields, AreReadAsTheyAreWritten) {
    size_t operators = 0;
    for (uint64_t i = 0; i < 60; i++) {
        const uint64_t seed = test_seed() * 1000000 + i;
        const Graph graph = i % 4 == 0 ? quantized_graph(seed) : random_graph(seed, {.nodes = 40});
        const auto fused = run_passes(graph);
        ASSERT_TRUE(fused);
        for (const Graph *of : {&graph, &*fused}) {
            for (const Node &node : of->nodes) {
                operators++;
                const auto read = operator_of(fields_of(node.op));
                ASSERT_TRUE(read) << to_text(node.op) << ": " << read.error().message;
                EXPECT_TRUE(*read == node.op) << to_text(node.op);
            }
        }
    }
    EXPECT_GT(operators, 1000u);
}

TEST(OperatorFields, AnAxisIsOneNumberThatFits) {
    const struct {
        std::vector<double> axis;
        int read;
        std::string message;  // "": it is read
    } cases[] = {
        {{}, 0, ""},
        {{2}, 2, ""},
        {{2147483647}, 2147483647, ""},
        {{4294967296}, 0, "needs whole numbers"},  // 0 in its lower 32 bits
        {{4294967297}, 0, "needs whole numbers"},
        {{-4294967295}, 0, "needs whole numbers"},
        {{0.5}, 0, "needs whole numbers"},
        {{0, 1}, 0, "needs one number"},
    };
    for (const std::string name : {"gather", "concat"}) {
        for (const auto &c : cases) {
            OperatorFields fields{name, {}, {}};
            if (!c.axis.empty()) fields.numbers["axis"] = c.axis;
            const auto read = operator_of(fields);
            ASSERT_EQ(bool(read), c.message.empty()) << name << c.message;
            if (read) {
                EXPECT_EQ(axis_of(*read), c.read) << name;
            } else {
                EXPECT_EQ(read.error().message, "operator `" + name + "`, field `axis`: " + c.message);
            }
        }
    }
}

}  // namespace
}  // namespace kiln::network
