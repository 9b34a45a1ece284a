#include "cli/network/input_files.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace kiln {
namespace {

using graph::Element;
using network::Port;

class InputFiles : public testing::Test {
protected:
    void SetUp() override {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
        save("f32.npy", "<f4", {1, 3}, 12);
        save("a=b.npy", "<f4", {1, 3}, 12);
        save("f64.npy", "<f8", {1, 3}, 24);
        save("long.npy", "<f4", {1, 4}, 16);
        save("i64.npy", "<i8", {}, 8);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    void save(const std::string &name, const std::string &descr, const std::vector<int64_t> &shape, size_t bytes) {
        ASSERT_TRUE(write_npy(folder_ + name, {descr, shape, std::vector<std::byte>(bytes, std::byte(7))}).ok());
    }

    // `@` in a text stands for the folder.
    Result<std::vector<NpyArray>> read(const std::vector<Port> &inputs, std::vector<std::string> texts) {
        for (std::string &text : texts) {
            if (const size_t at = text.find('@'); at != std::string::npos) text.replace(at, 1, folder_);
        }
        return read_inputs(inputs, texts);
    }

    std::string folder_ =
        testing::TempDir() + "kiln_input_files_" + testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
};

const Port x{"x", {Element::f32, {1, 3}}}, s{"s", {Element::i64, {}}}, odd{"x=/;:0", {Element::f32, {1, 3}}};

TEST_F(InputFiles, FindTheirInputs) {
    const struct {
        std::vector<Port> inputs;
        std::vector<std::string> texts;
    } rows[] = {
        {{}, {}},
        {{x}, {"@f32.npy"}},
        {{x}, {"x=@f32.npy"}},
        {{x}, {"@a=b.npy"}},
        {{odd}, {"x=/;:0=@f32.npy"}},
        {{x, odd}, {"x=/;:0=@f32.npy", "x=@f32.npy"}},
        {{x, s}, {"s=@i64.npy", "x=@a=b.npy"}},
    };
    for (const auto &row : rows) {
        const auto arrays = read(row.inputs, row.texts);
        ASSERT_TRUE(arrays) << arrays.error().message;
        ASSERT_EQ(arrays->size(), row.inputs.size());
        for (size_t i = 0; i < arrays->size(); i++) EXPECT_EQ((*arrays)[i].shape, row.inputs[i].form.shape);
    }
}

TEST_F(InputFiles, EverythingThatDoesNotFitIsSaidAtOnce) {
    const struct {
        std::vector<Port> inputs;
        std::vector<std::string> texts, says;
    } rows[] = {
        {{x, s}, {}, {"input `x` has no file; add --input x=FILE.npy with float32 (1, 3)", "with int64 ()"}},
        {{x}, {"y=@f32.npy"}, {"`y` is no input of the network; its inputs are `x`", "input `x` has no file"}},
        {{x, s}, {"@f32.npy", "s=@i64.npy"}, {"of which input? Write NAME=", "the inputs are `x`, `s`"}},
        {{x}, {"@f32.npy", "x=@f32.npy"}, {"`x` has two files; leave one"}},
        {{x}, {"@f64.npy"}, {"elements `<f8`, but input `x` is float32 (1, 3); save it with .astype(\"float32\")"}},
        {{x}, {"@long.npy"}, {"has shape (1, 4), but input `x` is float32 (1, 3)", "--shape"}},
        {{x}, {"@i64.npy"}, {"elements `<i8`", "has shape ()"}},
        {{x}, {"x=@lost.npy"}, {"lost.npy"}},
        {{x}, {"x="}, {"`x` has an empty path; write x=FILE.npy, with float32 (1, 3)"}},
        {{x}, {""}, {"`x` has an empty path; write x=FILE.npy, with float32 (1, 3)"}},
        {{}, {"@f32.npy"}, {"the network has no inputs; leave it out"}},
        {{x, s}, {"x=@f64.npy", "z=1"}, {"`<f8`", "`z` is no input", "input `s` has no file"}},
    };
    for (const auto &row : rows) {
        const auto arrays = read(row.inputs, row.texts);
        ASSERT_FALSE(arrays);
        for (const std::string &text : row.says) {
            EXPECT_NE(arrays.error().message.find(text), std::string::npos) << text << "\n" << arrays.error().message;
        }
    }
}

TEST(OutputFileNames, AreNamesOfFilesAndDistinct) {
    const struct {
        std::vector<std::string> outputs, files;
    } rows[] = {
        {{}, {}},
        {{"y"}, {"y.npy"}},
        {{"a:b;c d"}, {"a:b;c d.npy"}},
        {{"a/b"}, {"a_b.npy"}},
        {{"a/b", "a_b"}, {"a_b_2.npy", "a_b.npy"}},
        {{"a/b", "a\nb", "a_b_2"}, {"a_b.npy", "a_b_3.npy", "a_b_2.npy"}},
        {{".."}, {"...npy"}},
        {{"../../etc/x"}, {".._.._etc_x.npy"}},
        {{std::string(300, 'n')}, {std::string(251, 'n') + ".npy"}},
        {{std::string(300, 'n'), std::string(301, 'n')},
         {std::string(251, 'n') + ".npy", std::string(249, 'n') + "_2.npy"}},
    };
    for (const auto &row : rows) {
        std::vector<Port> ports;
        for (const std::string &name : row.outputs) ports.push_back({name, {}});
        EXPECT_EQ(output_file_names(ports), row.files);
    }
}

}  // namespace
}  // namespace kiln
