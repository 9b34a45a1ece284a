#include <gtest/gtest.h>

#include "package/c/c_layer.h"
#include "package/c/c_network.h"
#include "package/c/c_network_files.h"
#include "package/c/c_source_text.h"
#include "package/output/package_files.h"

namespace kiln {
namespace {

using Names = std::vector<std::string>;

TEST(CLayers, FunctionsHaveNamesOfTheirOwn) {
    const struct {
        Names layers, functions;
    } rows[] = {
        {{"pd00_dw_96x96x1"}, {"n_pd00_dw_96x96x1"}},
        {{"a 1x1/B", "A-1x1.b", "a_1x1_b"}, {"n_a_1x1_b", "n_a_1x1_b_2", "n_a_1x1_b_3"}},
        {{"a", "a_pack", "a_pack_all"}, {"n_a", "n_a_pack_2", "n_a_pack_all_2"}},
        {{"a_pack", "a"}, {"n_a_pack", "n_a_2"}},
        {{"a_2", "a", "a"}, {"n_a_2", "n_a", "n_a_3"}},
        {{"", "//", "é"}, {"n_layer", "n_layer_2", "n_layer_3"}},
        {{"kernels", "constants", "most", "int"}, {"n_kernels_2", "n_constants_2", "n_most_2", "n_int"}},
        {{"a_packed", "a"}, {"n_a_packed", "n_a"}},
        {{"a", "a_packed_words"}, {"n_a", "n_a_packed_words_2"}},
        {{std::string(100, 'x')}, {"n_" + std::string(48, 'x')}},
    };
    for (const auto &row : rows) EXPECT_EQ(c_function_names("n", row.layers), row.functions);
}

TEST(CLayers, ThoseOfTheSameCodeShareIt) {
    const auto workload =
        parse_workload_key("conv2d/input:1x6x6x8/kernel:1x1x8x8/dtype:i8/epilogue:bias,requantize_litert");
    ASSERT_TRUE(workload);
    const struct {
        const char *layer, *candidate, *code, *shared;
    } rows[] = {
        {"a", "shared_dense@1/t@1/x:1", "1", "n_shared_dense_2"},
        {"b", "scalar_dense@1/t@1/x:1", "", ""},
        {"c", "shared_dense@1/t@1/x:2", "2", "n_shared_dense_3"},
        {"d", "shared_dense@1/t@1/x:1", "1", "n_shared_dense_2"},
        {"shared_dense", "scalar_dense@1/t@1/x:2", "", ""},
        {"e", "other@1/t@1/x:1", "3", "n_other"},
    };
    Package package;
    package.name = "n";
    for (const auto &row : rows) {
        PackagedKernel kernel;
        kernel.workload.workload = *workload, kernel.workload.name = row.layer;
        kernel.candidate = row.candidate, kernel.artifact.shared_code = row.code;
        package.kernels.push_back(kernel);
    }
    const std::vector<CLayer> layers = c_layers(package);
    for (size_t i = 0; i < layers.size(); i++) EXPECT_EQ(layers[i].shared, rows[i].shared) << rows[i].layer;
    std::vector<std::pair<std::string, int64_t>> codes;
    for (const CSharedCode &code : shared_code(layers)) codes.emplace_back(code.function(), code.layers);
    const decltype(codes) expected = {{"n_shared_dense_2", 2}, {"n_shared_dense_3", 1}, {"n_other", 1}};
    EXPECT_EQ(codes, expected);
    // In a network their constants are packed when it is built, so nothing is left for a file of their own.
    const std::vector<CLayer> of_network = c_network_layers(package);
    for (size_t i = 0; i < layers.size(); i++) {
        EXPECT_TRUE(layers[i].has_file());
        EXPECT_EQ(of_network[i].has_file(), layers[i].shared.empty()) << rows[i].layer;
        EXPECT_EQ(of_network[i].shared, layers[i].shared);
    }
}

TEST(CLayers, IdentifiersAreReplacedAsAWhole) {
    const std::pair<const char *, const char *> rows[] = {
        {"", ""},
        {"f", "g"},
        {"f(f, ff, f_, _f, 1f)", "g(g, ff, f_, _f, 1f)"},
        {"void f(void);", "void g(void);"},
    };
    for (const auto &[text, expected] : rows) EXPECT_EQ(with_identifier(text, "f", "g"), expected);
    EXPECT_EQ(with_identifier("f f", "f", "ff"), "ff ff");
}

TEST(CNetworks, PortsHaveTheTypesOfTheModel) {
    using graph::Element;
    using network::Place;
    const std::pair<Element, const char *> rows[] = {
        {Element::f32, "float"},    {Element::f64, "double"},      {Element::i8, "int8_t"},
        {Element::u8, "uint8_t"},   {Element::i16, "int16_t"},     {Element::u16, "uint16_t"},
        {Element::i32, "int32_t"},  {Element::u32, "uint32_t"},    {Element::i64, "int64_t"},
        {Element::u64, "uint64_t"}, {Element::boolean, "uint8_t"}, {Element::f16, nullptr},
        {Element::bf16, nullptr},
    };
    Package package;
    package.name = "n";
    for (const auto &[type, c_type] : rows) {
        const graph::TypedShape form{type, {4}}, bytes{Element::u8, {4}};
        const network::Copy copy{
            .from = {Place::Memory::input, 0, 0}, .to = {Place::Memory::output, 0, 0}, .row_bytes = 4};
        const network::Program program{
            .name = "n", .inputs = {{"x", form}}, .outputs = {{"y", bytes}}, .steps = {{"copy", {}, copy}}};
        const auto laid_out = lay_out_c_network(package, program, CoreDescription{});
        EXPECT_EQ(laid_out.ok(), c_type != nullptr) << graph::name(type);
        if (laid_out.ok()) {
            const std::string header = c_network_header(*laid_out);
            EXPECT_NE(header.find(std::string("const ") + c_type + " *input, uint8_t *output"), std::string::npos)
                << header;
        } else {
            EXPECT_EQ(laid_out.error().code, ErrorCode::unsupported);
            EXPECT_NE(laid_out.error().message.find("input x is of"), std::string::npos) << laid_out.error().message;
        }
    }
}

// Compilers warn of an arena that no step reads.
TEST(CNetworks, HaveAnArenaWhereAStepUsesIt) {
    using network::Place;
    const graph::TypedShape form{graph::Element::u8, {4}};
    const Place input{Place::Memory::input, 0, 0}, output{Place::Memory::output, 0, 0},
        between{Place::Memory::workspace, 0, 0};
    const auto copy = [](const Place &from, const Place &to) {
        return network::Step{"copy", {}, network::Copy{.from = from, .to = to, .row_bytes = 4}};
    };
    Package package;
    package.name = "n";
    for (const bool has_between : {true, false}) {
        network::Program program{.name = "n", .inputs = {{"x", form}}, .outputs = {{"y", form}}, .workspace = 64};
        if (has_between) program.steps = {copy(input, between), copy(between, output)};
        if (!has_between) program.steps = {copy(input, output)};
        const auto laid_out = lay_out_c_network(package, program, CoreDescription{});
        ASSERT_TRUE(laid_out) << laid_out.error().message;
        EXPECT_EQ(laid_out->arena_bytes(), has_between ? 64 : 0);
        EXPECT_EQ(c_network_run(*laid_out).find("arena") != std::string::npos, has_between);
    }
}

TEST(CPackages, ManifestsListFilesOfAPackageOnly) {
    const std::pair<const char *, Names> rows[] = {
        {R"({"files": ["Makefile", "CMakeLists.txt", "src/n_a.c"]})", {"Makefile", "CMakeLists.txt", "src/n_a.c"}},
        {R"({"files": ["src/m_a.c", "src/n_A.c", "src/n_a.h", "src/n_/../a.c", "../n_a.c", "main.c", "", 7, null]})",
         {}},
        {R"({"files": ["src/n_.c", "src/n.c", "src/n_.cc"]})", {"src/n_.c"}},
        {R"({"files": "Makefile"})", {}},
        {R"({})", {}},
        {R"([])", {}},
        {"", {}},
    };
    for (const auto &[manifest, files] : rows) EXPECT_EQ(listed_files(manifest, "n"), files) << manifest;
}

}  // namespace
}  // namespace kiln
