#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/generators/c/compiled_source.h"

namespace kiln {
namespace {

using namespace Halide;

// Sizes that come with a call: one text for all layers, whose places depend on them.
TEST_F(CSourceTest, SizesComeWithACall) {
    Var x("x");
    std::string first;
    for (const int layer : {1, 4, 70}) {
        Param<int32_t> columns("columns"), unused("col");
        ImageParam in(Int(32), 1, "in"), offsets(Int(8), 1, "offsets"), factors(Int(32), 1, "factors");
        for (ImageParam *p : {&in, &offsets, &factors}) p->dim(0).set_bounds(0, columns).set_stride(1);
        Func copied("copied"), sum("sum");
        copied(x) = in(x) + 1;
        sum(x) = copied(x) * factors(x) + cast<int>(offsets(x));
        sum.output_buffer().dim(0).set_bounds(0, columns).set_stride(1);
        copied.compute_root();
        const Expr of_offsets = (Expr(columns) + 3) / 4;
        const CForm form{.members = {{offsets.name(), 2}, {factors.name(), 2 + of_offsets}},
                         .sizes = {{columns.name(), 0, layer}, {unused.name(), 1, 7}}};
        const CSource source =
            c_source({{Pipeline(sum).compile_to_module({in, columns, unused, offsets, factors}, "kiln_compute", scalar,
                                                       LinkageType::ExternalPlusArgv),
                       form}});
        EXPECT_EQ(source.workspace_bytes, (4 * layer + 7) / 8 * 8);
        if (first.empty()) first = source.text;
        EXPECT_EQ(source.text, first);
        auto *compute = reinterpret_cast<void (*)(const void *, const int32_t *, void *, void *)>(compiled(source));
        ASSERT_NE(compute, nullptr);
        const auto n = static_cast<size_t>(layer), words = (n + 3) / 4;
        std::vector<int32_t> array(2 + words + n), input(n), got(n);
        array[0] = layer;
        for (size_t i = 0; i < n; i++) {
            input[i] = static_cast<int32_t>(3 * i), array[2 + words + i] = static_cast<int32_t>(i + 1);
            reinterpret_cast<int8_t *>(&array[2])[i] = static_cast<int8_t>(-i);
        }
        std::vector<int64_t> workspace(n);
        compute(input.data(), array.data(), got.data(), workspace.data());
        for (int i = 0; i < layer; i++) EXPECT_EQ(got[size_t(i)], (3 * i + 1) * (i + 1) - i) << layer << " " << i;
    }
}

TEST_F(CSourceTest, OneTemporaryAloneMayHaveASizeOfACall) {
    Var x("x");
    Param<int32_t> columns("columns");
    ImageParam in(Int(32), 1, "in");
    in.dim(0).set_bounds(0, columns).set_stride(1);
    Func a("a"), b("b"), sum("sum");
    a(x) = in(x) + 1, b(x) = in(x)*2, sum(x) = a(x) + b(x);
    sum.output_buffer().dim(0).set_bounds(0, columns).set_stride(1);
    a.compute_root(), b.compute_root();
    const Halide::Module module =
        Pipeline(sum).compile_to_module({in, columns}, "kiln_compute", scalar, LinkageType::ExternalPlusArgv);
    const auto refusal = [&](const CForm &form) -> std::string {
        try {
            c_source({{module, form}});
        } catch (const NoCForm &error) {
            return error.what;
        }
        return "";
    };
    EXPECT_EQ(refusal({.sizes = {{columns.name(), 0, 9}}}),
              "two temporaries of sizes that are not known when compiling");
    EXPECT_EQ(refusal({}), "a scalar argument");
}

}  // namespace
}  // namespace kiln
