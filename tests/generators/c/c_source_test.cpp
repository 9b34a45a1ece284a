#include <gtest/gtest.h>

#include <functional>

#include "tests/generators/c/compiled_source.h"

namespace kiln {
namespace {

using namespace Halide;

constexpr int count = 511;

using Kernel = void (*)(const int32_t *, int32_t *, void *);

// Numbers of all magnitudes and both signs.
std::vector<int32_t> numbers() {
    std::vector<int32_t> values;
    uint32_t state = 12345;
    for (int i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        values.push_back(static_cast<int32_t>(state) >> (state % 29));
    }
    return values;
}

CSource source_of(Func f, const std::vector<Argument> &arguments) {
    f.output_buffer().dim(0).set_bounds(0, count).set_stride(1);
    return c_source(
        {{Pipeline(f).compile_to_module(arguments, "kiln_compute", scalar, LinkageType::ExternalPlusArgv)}});
}

// Bits of numbers of f32: of any size, near 1, and all that are special.
std::vector<int32_t> float_bits() {
    std::vector<int32_t> values = {0x3f000000, 0x3effffff, 0x3f000001, 0x3fc00000, 0x40200000, 0x4b000000, 0x4affffff,
                                   0x3f7fffff, 0x4f000000, 0x4effffff, 0x4f800000, 0x7f7fffff, 0x00800000, 0x007fffff,
                                   0x00000001, 0x7f800000, 0x7fc00000, 0x00000000, 0x3f800000, 0x40400000};
    for (size_t i = values.size(); i-- > 0;) values.push_back(values[i] ^ INT32_MIN);
    uint32_t state = 54321;
    while (values.size() < count) {
        state = state * 1664525 + 1013904223;
        const uint32_t near_one = (state >> 7 & 0x80ffffff) + 0x3f000000;
        values.push_back(static_cast<int32_t>(values.size() % 3 ? near_one ^ (state << 31) : state ^ (state >> 16)));
    }
    return values;
}

// What Halide makes of a function of one input's elements, and what the C does.
class CExpressions : public CSourceTest {
protected:
    struct Computed {
        Buffer<int32_t> expected;
        std::vector<int32_t> got;
    };

    void compute_both(const std::function<Expr(const ImageParam &, const Var &)> &value,
                      const std::vector<int32_t> &input, Computed *computed) {
        ImageParam in(Int(32), 1, "in");
        in.dim(0).set_bounds(0, count).set_stride(1);
        Var x("x");
        Func f("f");
        f(x) = value(in, x);
        Buffer<int32_t> data(const_cast<int32_t *>(input.data()), count);
        in.set(data);
        computed->expected = f.realize({count});
        CSource source;
        ASSERT_NO_THROW(source = source_of(f, {in}));
        const auto kernel = reinterpret_cast<Kernel>(compiled(source));
        ASSERT_NE(kernel, nullptr);
        computed->got.resize(count);
        kernel(input.data(), computed->got.data(), nullptr);
    }
};

TEST_F(CExpressions, ComputeFloatsAsProcessorsDo) {
    const auto bits = [](const Expr &v) { return reinterpret<int>(v); };
    const auto number_of = [](const Expr &v) {
        return select(is_nan(v), 7.0f, v);
    };  // compilers compare NaN as they like
    const auto whole = [](const Expr &v) { return clamp(v, -2147483648.0f, 2147483520.0f); };
    const struct {
        const char *name;
        std::function<Expr(Expr, Expr)> function;  // of two numbers
    } rows[] = {
        {"sum", [&](Expr a, Expr b) { return bits(a + b); }},
        {"difference", [&](Expr a, Expr b) { return bits(a - b); }},
        {"product", [&](Expr a, Expr b) { return bits(a * b); }},
        {"quotient", [&](Expr a, Expr b) { return bits(a / b); }},
        {"root", [&](Expr a, Expr) { return bits(sqrt(a)); }},
        {"comparisons",
         [&](Expr a, Expr b) {
             a = number_of(a), b = number_of(b);
             return cast<int>(a < b) + 2 * cast<int>(a <= b) + 4 * cast<int>(a == b);
         }},
        {"turned",
         [&](Expr a, Expr b) {
             a = number_of(a), b = number_of(b);
             return cast<int>(a > b) + 2 * cast<int>(a >= b) + 4 * cast<int>(a != b);
         }},
        {"smaller", [&](Expr a, Expr b) { return bits(min(number_of(a), number_of(b)) + 0.0f); }},
        {"larger", [&](Expr a, Expr b) { return bits(max(number_of(a), number_of(b)) + 0.0f); }},
        {"to even", [&](Expr a, Expr) { return bits(round(a)); }},
        {"floor", [&](Expr a, Expr) { return bits(floor(a)); }},
        {"ceil", [&](Expr a, Expr) { return bits(ceil(a)); }},
        {"trunc", [&](Expr a, Expr) { return bits(trunc(a)); }},
        {"size", [&](Expr a, Expr) { return bits(abs(a)); }},
        {"of integers", [&](Expr a, Expr) { return bits(cast<float>(reinterpret<int>(a))); }},
        {"of numbers without a sign", [&](Expr a, Expr) { return bits(cast<float>(reinterpret<uint32_t>(a))); }},
        {"of bytes", [&](Expr a, Expr) { return bits(cast<float>(cast<int8_t>(reinterpret<int>(a))) * 0.3f); }},
        {"to integers", [&](Expr a, Expr) { return cast<int>(whole(number_of(a))); }},
        {"widened to be compared",
         [](Expr a, Expr) {
             const Expr wide = cast<double>(a),
                        in = select(wide > Expr(1e3) || is_nan(a), Expr(0.0), max(wide, Expr(-5.0)));
             return cast<int>(in);
         }},
        {"conditions", [](Expr a, Expr b) { return select(a != 0.0f && b != 0.5f, 1, 2); }},
    };
    const std::vector<int32_t> input = float_bits();
    for (const auto &row : rows) {
        const auto value = [&](const ImageParam &in, const Var &x) {
            const auto number = [&](const Expr &at) { return reinterpret<float>(in(at)); };
            return strict_float(row.function(number(x), number((x * 7 + 3) % count)));
        };
        Computed computed;
        ASSERT_NO_FATAL_FAILURE(compute_both(value, input, &computed)) << row.name;
        const auto &[expected, got] = computed;
        const auto is_nan_of = [](int32_t v) { return (v & INT32_MAX) > 0x7f800000; };
        for (int i = 0; i < count; i++) {
            if (is_nan_of(got[i]) && is_nan_of(expected(i))) continue;
            ASSERT_EQ(got[i], expected(i))
                << row.name << std::hex << " of " << input[i] << " and " << input[(i * 7 + 3) % count];
        }
    }
}

TEST_F(CExpressions, ComputeWhatHalideDoes) {
    const struct {
        const char *name;
        std::function<Expr(Expr, Expr)> function;  // of an element and its index
    } rows[] = {
        {"sums wrap in 8 bits", [](Expr v, Expr) { return cast<int>(cast<int8_t>(v) + cast<int8_t>(100)); }},
        {"products in 16 bits", [](Expr v, Expr) { return cast<int>(cast<int16_t>(v) * cast<int16_t>(3)); }},
        {"unsigned wraps",
         [](Expr v, Expr) { return reinterpret<int>(cast<uint32_t>(v) * cast<uint32_t>(-1640531527)); }},
        {"u8", [](Expr v, Expr) { return cast<int>(cast<uint8_t>(v) - cast<uint8_t>(200)); }},
        {"division rounds down", [](Expr v, Expr) { return v / 7; }},
        {"remainder is not negative", [](Expr v, Expr) { return v % 7; }},
        {"powers of two", [](Expr v, Expr) { return (v / 16) * 3 + v % 8; }},
        {"division by a variable", [](Expr v, Expr i) { return v / (i - 255) + v % (i - 255); }},
        {"unsigned division", [](Expr v, Expr) { return cast<int>(cast<uint32_t>(v) / cast<uint32_t>(10)); }},
        {"shift left", [](Expr v, Expr i) { return (v & 0xffff) << cast<uint32_t>(i % 8); }},
        {"shift right keeps the sign", [](Expr v, Expr i) { return v >> cast<uint32_t>(i % 31); }},
        {"shift both ways", [](Expr v, Expr i) { return (v & 0xff) >> (i % 11 - 5); }},
        {"bits", [](Expr v, Expr i) { return ((v & 0xff0) | i) ^ (~v); }},
        {"min, max", [](Expr v, Expr i) { return clamp(v, -i, i) + max(v, 17) - min(v, i); }},
        {"min of u8", [](Expr v, Expr) { return cast<int>(min(cast<uint8_t>(v), cast<uint8_t>(99))); }},
        {"64 bits",
         [](Expr v, Expr i) { return cast<int>((cast<int64_t>(v) * cast<int64_t>(i + (1 << 30)) + (1 << 20)) >> 31); }},
        {"large numbers",
         [](Expr v, Expr) { return cast<int>((cast<int64_t>(v) * Expr(int64_t(0x123456789))) >> 40); }},
        {"the least", [](Expr v, Expr) { return max(v, Int(32).min()) ^ Int(32).min(); }},
        {"select", [](Expr v, Expr i) { return select(v > 0 && i % 3 == 0, v, !(v < -5) || i > 100, -i, 7); }},
        {"conditions as numbers", [](Expr v, Expr i) { return cast<int>(v > i) + cast<int>(v == i); }},
        {"abs",
         [](Expr v, Expr) {
             return cast<int>(abs(cast<int16_t>(v))) + cast<int>(absd(cast<int8_t>(v), cast<int8_t>(3)));
         }},
        {"halving", [](Expr v, Expr) { return cast<int>(Halide::halving_add(cast<int16_t>(v), cast<int16_t>(9))); }},
        {"likely", [](Expr v, Expr i) { return select(likely(i > 3), v, 0); }},
    };
    const std::vector<int32_t> input = numbers();
    for (const auto &row : rows) {
        const auto value = [&](const ImageParam &in, const Var &x) { return cast<int>(row.function(in(x), x)); };
        Computed computed;
        ASSERT_NO_FATAL_FAILURE(compute_both(value, input, &computed)) << row.name;
        const auto &[expected, got] = computed;
        for (int i = 0; i < count; i++) ASSERT_EQ(got[i], expected(i)) << row.name << " of " << input[i] << " at " << i;
    }
}

// Temporaries: kept in variables, on the stack, in the workspace, with a size that depends on a loop.
TEST_F(CSourceTest, TemporariesLieWhereTheyFit) {
    const struct {
        const char *name;
        std::function<void(Func &, Func &, Var, ImageParam)> schedule;  // of the producer and the output
        int64_t workspace_bytes;
        const char *text;
    } rows[] = {
        {"variables",
         [](Func &p, Func &f, Var x, ImageParam) {
             f.split(x, x, Var("xi"), 7).unroll(Var("xi"));
             p.compute_at(f, x).unroll(x);
         },
         0, " p0, p1"},
        {"the stack",
         [](Func &p, Func &f, Var x, ImageParam) {
             f.split(x, x, Var("xi"), 7);
             p.compute_at(f, x);
         },
         0, "int32_t p[9];"},
        {"variables in one branch, the stack in the other",
         [](Func &p, Func &f, Var x, ImageParam in) {
             f.split(x, x, Var("xi"), 7).specialize(in(0) != 0).unroll(Var("xi"));
             p.compute_at(f, x).unroll(x);
         },
         0, "int32_t p_2[9];"},
        {"asked for", [](Func &p, Func &, Var, ImageParam) { p.compute_root().store_in(MemoryType::Stack); }, 0,
         "int32_t p[513];"},
        {"the workspace", [](Func &p, Func &, Var, ImageParam) { p.compute_root(); }, 2056,
         "(int32_t *)((char *)workspace + 0)"},
    };
    const std::vector<int32_t> input = numbers();
    for (const auto &row : rows) {
        ImageParam in(Int(32), 1, "in");
        in.dim(0).set_bounds(0, count).set_stride(1);
        Var x("x");
        Func p("p"), f("f");
        p(x) = in(clamp(x, 0, count - 1)) >> 4;
        f(x) = p(x) + p(x + 1) * 3 + p(x + 2);
        f.bound(x, 0, count);
        row.schedule(p, f, x, in);
        const CSource source = source_of(f, {in});
        EXPECT_EQ(source.workspace_bytes, row.workspace_bytes) << row.name << source.text;
        EXPECT_NE(source.text.find(row.text), std::string::npos) << row.name << source.text;
        const auto kernel = reinterpret_cast<Kernel>(compiled(source));
        ASSERT_NE(kernel, nullptr) << row.name;
        std::vector<int32_t> got(count);
        std::vector<int64_t> workspace(static_cast<size_t>(source.workspace_bytes) / 8 + 1);
        kernel(input.data(), got.data(), workspace.data());
        const auto value = [&](int i) { return input[std::min(i, count - 1)] >> 4; };
        for (int i = 0; i < count; i++) ASSERT_EQ(got[i], value(i) + value(i + 1) * 3 + value(i + 2)) << row.name << i;
    }
}

// What a kernel needs beside its input lies in one array, which another function writes.
TEST_F(CSourceTest, ConstantsLieInOneArray) {
    Var x("x");
    ImageParam in(Int(32), 1, "in"), weights(Int(8), 1, "weights"), bias(Int(32), 1, "bias"), given(Int(8), 1, "given");
    for (ImageParam *p : {&in, &weights, &bias, &given}) p->dim(0).set_bounds(0, 5).set_stride(1);
    Func sum("sum"), twice("twice");
    sum(x) = in(x)*cast<int>(weights(x)) + bias(x);
    twice(x) = cast<int8_t>(given(x) * 2);
    for (Func *f : {&sum, &twice}) f->output_buffer().dim(0).set_bounds(0, 5).set_stride(1);
    const auto lowered = [](Func f, const std::vector<Argument> &arguments, const char *name) {
        return Pipeline(f).compile_to_module(arguments, name, scalar, LinkageType::ExternalPlusArgv);
    };
    const CForm compute{.members = {{weights.name(), 0}, {bias.name(), 2}}};
    const CForm pack{.members = {{twice.name(), 0}}, .copies = {{"bias", Int(32), 5, 2}}, .writes = true};
    const CForm copying{.copies = {{"weights", Int(8), 5, 0}, {"bias", Int(32), 5, 2}}, .writes = true};
    const Halide::Module kernel = lowered(sum, {in, weights, bias}, "kiln_compute");
    const int32_t input[5] = {1, -2, 3, 1000, 0}, offsets[5] = {7, 8, 9, -10, 11};
    const int8_t numbers[5] = {1, 2, -3, 60, 5};
    for (const int factor : {1, 2}) {
        CSource source;
        if (factor == 1) source = c_source({{kernel, compute}}, copying);
        if (factor == 2) source = c_source({{kernel, compute}, {lowered(twice, {given}, "kiln_pack"), pack}});
        void *library = opened(source);
        ASSERT_NE(library, nullptr);
        using Pack = void (*)(const int8_t *, const int32_t *, int32_t *, void *);
        using Compute = void (*)(const void *, const int32_t *, void *, void *);
        std::vector<int32_t> array(7, -1), got(5);
        reinterpret_cast<Pack>(dlsym(library, "kiln_pack"))(numbers, offsets, array.data(), nullptr);
        reinterpret_cast<Compute>(dlsym(library, "kiln_compute"))(input, array.data(), got.data(), nullptr);
        for (int i = 0; i < 5; i++)
            EXPECT_EQ(got[i], input[i] * factor * numbers[i] + offsets[i]) << factor << " " << i;
    }
}

// `inner` is read by nothing that is printed, and `outer` by `inner` alone; `used` is read.
TEST_F(CSourceTest, NamesNothingThatNobodyReads) {
    using namespace Halide::Internal;
    const Expr i = Variable::make(Int(32), "i"), outer = Variable::make(Int(32), "outer"),
               inner = Variable::make(Int(32), "inner"), used = Variable::make(Int(32), "used"),
               within = Variable::make(Int(32), "within");
    const auto stored = Store::make("f", used * 2, i, Parameter(), const_true(), ModulusRemainder());
    const Stmt in_loop =
        LetStmt::make("outer", i * 3,
                      LetStmt::make("inner", Let::make("within", outer * 5, within * within),
                                    LetStmt::make("used", i + 7, Block::make(Evaluate::make(inner), stored))));
    const Stmt loop = For::make("i", 0, count, ForType::Serial, Partition::Auto, DeviceAPI::None, in_loop);
    Module module("unused", scalar);
    const std::vector<LoweredArgument> arguments = {{"f", Argument::OutputBuffer, Int(32), 1, ArgumentEstimates()}};
    module.append(LoweredFunc("kiln_compute", arguments, loop, LinkageType::External));
    const CSource source = c_source({{module}});
    EXPECT_EQ(source.text.find("* 3"), std::string::npos) << source.text;
    auto *kernel = reinterpret_cast<void (*)(int32_t *, void *)>(compiled(source));
    ASSERT_NE(kernel, nullptr);
    std::vector<int32_t> out(count);
    kernel(out.data(), nullptr);
    for (int x = 0; x < count; x++) EXPECT_EQ(out[size_t(x)], 2 * (x + 7));
}

TEST_F(CSourceTest, WhatReadsNothingStillHasItsParameters) {
    Var x("x");
    ImageParam in(Int(32), 1, "in");
    Func constant("constant");
    constant(x) = 7;
    constant.output_buffer().dim(0).set_bounds(0, count).set_stride(1);
    const CSource source = c_source({{Pipeline(constant).compile_to_module({in}, "kiln_compute", scalar)}});
    auto *kernel = reinterpret_cast<void (*)(const int32_t *, int32_t *, void *)>(compiled(source));
    ASSERT_NE(kernel, nullptr);
    std::vector<int32_t> out(count);
    kernel(nullptr, out.data(), nullptr);
    EXPECT_EQ(out, std::vector<int32_t>(count, 7));
}

TEST_F(CSourceTest, SaysWhatHasNoForm) {
    const struct {
        std::function<Expr(Expr, Expr)> function;
        const char *what;
    } rows[] = {
        {[](Expr v, Expr) { return cast<int>(cast<double>(v) > Expr(0.5)); }, "a number of f64"},
        {[](Expr v, Expr) { return cast<int>(cast<double>(cast<float>(v)) * Expr(0.5)); }, "arithmetic of f64"},
        {[](Expr v, Expr) { return cast<int>(cast<float16_t>(cast<float>(v))); },
         "a number with a fraction of 16 bits"},
        {[](Expr v, Expr) { return cast<int>(sin(cast<float>(v))); }, "a call of sin_f32"},
        {[](Expr v, Expr) { return cast<int>(popcount(v)); }, "a call of popcount"},
    };
    for (const auto &row : rows) {
        ImageParam in(Int(32), 1, "in");
        in.dim(0).set_bounds(0, count).set_stride(1);
        Var x("x");
        Func f("f");
        f(x) = row.function(in(x), x);
        try {
            source_of(f, {in});
            FAIL() << row.what;
        } catch (const NoCForm &error) {
            EXPECT_EQ(error.what, row.what);
        }
    }
    ImageParam in(Int(32), 1, "in");
    in.dim(0).set_bounds(0, count).set_stride(1);
    Var x("x");
    Func f("f");
    f(x) = in(x);
    f.vectorize(x, 4, TailStrategy::GuardWithIf);
    EXPECT_THROW(source_of(f, {in}), NoCForm);
}

}  // namespace
}  // namespace kiln
