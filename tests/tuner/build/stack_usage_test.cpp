#include "tuner/build/stack_usage.h"

#include <gtest/gtest.h>

#include <limits>

namespace kiln {
namespace {

using Functions = std::vector<FunctionStack>;

TEST(StackUsage, LinesOfTheCompiler) {
    const struct {
        const char *text;
        Functions functions;
    } rows[] = {
        {"", {}},
        {"k.c:4:16:kiln_requantize\t0\tstatic\n<stdin>:18:6:kiln_compute\t96\tstatic\n",
         {{"kiln_requantize", 0, true}, {"kiln_compute", 96, true}}},
        {"/a:b/k.c:1:2:f\t16\tdynamic,bounded", {{"f", 16, true}}},
        {"k.c:1:2:f\t16\tdynamic\n", {{"f", 16, false}}},
    };
    for (const auto &row : rows) {
        const auto functions = parse_stack_usage(row.text, "k.su");
        ASSERT_TRUE(functions) << row.text;
        EXPECT_EQ(*functions, row.functions) << row.text;
    }
}

TEST(StackUsage, OtherTextsAreErrors) {
    for (const char *text : {"f 16 static", "k.c:1:2:f\t16", "k.c:1:2:f\tmany\tstatic", "k.c:1:2:f\t-1\tstatic",
                             "k.c:1:2:\t1\tstatic", "k.c:1:2:f\t99999999999999999999\tstatic"}) {
        const auto functions = parse_stack_usage(text, "k.su");
        ASSERT_FALSE(functions) << text;
        EXPECT_TRUE(functions.error().message.starts_with("k.su: ")) << functions.error().message;
    }
}

TEST(StackUsage, OfACallIsThatOfAllFunctions) {
    const Functions functions = {{"a_compute", 100, true}, {"a_pack", 999, true}, {"helper", 20, true}, {"a", 8, true}};
    EXPECT_EQ(most_stack(functions, "a_pack"), 128);
    EXPECT_EQ(most_stack({}, "a_pack"), 0);
    EXPECT_EQ(most_stack({{"a_pack_all", 9, false}, {"a", 8, true}}, "a_pack"), 8);
    EXPECT_EQ(most_stack({{"a", 8, false}}, "a_pack"), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace kiln
