// Elements in files beside the model: where they may lie, and what they must have.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/graph/onnx/parsed.h"

namespace kiln::graph::onnx {
namespace {

namespace dt = data_type;
namespace fs = std::filesystem;

class ExternalData : public testing::Test {
protected:
    ExternalData() : outside_(fs::path(testing::TempDir()) / ("kiln_external_" + std::to_string(getpid()))) {
        fs::create_directories(folder_ / "sub");
        write(folder_ / "w.bin", {1, 2, 3, 4});
        write(folder_ / "sub/v.bin", {5});
        write(outside_ / "secret.bin", {6, 7});
        std::ofstream(folder_ / "empty.bin");
        fs::create_symlink("w.bin", folder_ / "inside.link");
        fs::create_symlink("../secret.bin", folder_ / "outside.link");
        fs::create_symlink("..", folder_ / "folder.link");
        fs::create_symlink("loop.link", folder_ / "loop.link");
        mkfifo((folder_ / "pipe").c_str(), 0600);
    }
    ~ExternalData() override { fs::remove_all(outside_); }

    static void write(const fs::path &file, const std::vector<float> &numbers) {
        std::ofstream(file, std::ios::binary)
            .write(reinterpret_cast<const char *>(numbers.data()), std::streamsize(numbers.size() * sizeof(float)));
    }

    fs::path outside_, folder_ = outside_ / "model";
};

Message entry(std::string_view key, std::string_view value) { return Message().text(1, key).text(2, value); }

// A tensor of `count` floats.
Message external(int64_t count, const std::vector<std::pair<std::string, std::string>> &entries) {
    Message t = tensor("w", dt::f32, {count}).number(14, 1);
    for (const auto &[key, value] : entries) t.message(13, entry(key, value));
    return t;
}

TEST_F(ExternalData, IsReadFromTheModelsFolder) {
    const struct {
        Message tensor;
        std::vector<float> elements;
    } rows[] = {
        {external(4, {{"location", "w.bin"}}), {1, 2, 3, 4}},
        {external(2, {{"location", "w.bin"}, {"offset", "4"}, {"length", "8"}, {"checksum", "0"}}), {2, 3}},
        {external(1, {{"location", "sub/v.bin"}}), {5}},
        {external(1, {{"location", "./sub/../sub/v.bin"}}), {5}},
        {external(1, {{"location", "inside.link"}, {"offset", "12"}}), {4}},
        {external(0, {{"location", "empty.bin"}}), {}},
        {external(0, {{"location", "w.bin"}, {"offset", "16"}}), {}},
    };
    for (const auto &row : rows) {
        const Result<Model> model = parsed(with_initializer(row.tensor), folder_);
        ASSERT_TRUE(model) << model.error().message;
        const std::span<const std::byte> bytes = model->initializers[0].data.bytes();
        ASSERT_EQ(bytes.size(), row.elements.size() * sizeof(float));
        EXPECT_TRUE(bytes.empty() || std::memcmp(bytes.data(), row.elements.data(), bytes.size()) == 0);
    }
}

TEST_F(ExternalData, StaysMappedAsLongAsSomebodyHoldsIt) {
    ConstantData data;
    {
        const Result<Model> model = parsed(with_initializer(external(4, {{"location", "w.bin"}})), folder_);
        ASSERT_TRUE(model);
        data = model->initializers[0].data;
    }
    EXPECT_EQ(read_float(Element::f32, data.bytes().data() + 12), 4);
}

TEST_F(ExternalData, IsRefusedElsewhere) {
    const std::string out = " leads out of the model's folder, so it is not read: put the file itself into the folder";
    const std::string no_path = " is no path relative to the model's folder";
    const struct {
        Message tensor;
        std::string message;
    } rows[] = {
        {external(2, {{"location", "../secret.bin"}}), "'../secret.bin'" + out},
        {external(2, {{"location", "sub/../../secret.bin"}}), "'sub/../../secret.bin'" + out},
        {external(2, {{"location", "outside.link"}}), "'outside.link'" + out},
        {external(2, {{"location", "folder.link/secret.bin"}}), "'folder.link/secret.bin'" + out},
        {external(2, {{"location", "."}}), "'.'" + out},
        {external(2, {{"location", "folder.link/model"}}), "'folder.link/model'" + out},
        {external(2, {{"location", (outside_ / "secret.bin").string()}}), no_path},
        {external(2, {{"location", "/etc/passwd"}}), "'/etc/passwd'" + no_path},
        {external(2, {{"location", std::string("w.bin\0.txt", 10)}}), no_path},
        {external(2, {}), "''" + no_path},
        {external(2, {{"location", "lost.bin"}}),
         "'lost.bin' cannot be found in the model's folder (No such file or directory): put it beside the model"},
        {external(2, {{"location", "loop.link"}}), "'loop.link' cannot be found in the model's folder ("},
        {external(2, {{"location", "sub"}}), "'sub': is a folder"},
        {external(2, {{"location", "pipe"}}), "'pipe': is not a regular file"},
        {external(5, {{"location", "w.bin"}}),
         "'w.bin' has 16 bytes, and the data is said to be 20 bytes from byte 0 on: the file is cut off, or of another "
         "model"},
        {external(1, {{"location", "w.bin"}, {"offset", "13"}}), "'w.bin' has 16 bytes, and the data is said to be 4"},
        {external(1, {{"location", "w.bin"}, {"offset", "18446744073709551614"}}), "'w.bin' has 16 bytes"},
        {external(1, {{"location", "w.bin"}, {"offset", "-4"}}), "offset '-4' is no number of bytes"},
        {external(1, {{"location", "w.bin"}, {"offset", "4 "}}), "offset '4 ' is no number of bytes"},
        {external(1, {{"location", "w.bin"}, {"offset", ""}}), "offset '' is no number of bytes"},
        {external(1, {{"location", "w.bin"}, {"offset", "99999999999999999999"}}), " is no number of bytes"},
        {external(1, {{"location", "w.bin"}, {"length", "8"}}), "8 bytes, but its type and shape need 4"},
        {external(int64_t{1} << 39, {{"location", "w.bin"}}), "'w.bin' has 16 bytes"},
    };
    for (const auto &row : rows) {
        const std::string message = error_of(parsed(with_initializer(row.tensor), folder_));
        EXPECT_TRUE(message.starts_with("tensor 'w': external data: ")) << message;
        EXPECT_NE(message.find(row.message), std::string::npos) << row.message << "\n" << message;
    }
    EXPECT_EQ(error_of(parsed(with_initializer(external(4, {{"location", "w.bin"}})))),
              "tensor 'w': external data: 'w.bin' is in no folder: the model was not read from a file");
}

TEST_F(ExternalData, IsFoundBesideTheFileOfTheModel) {
    const std::string bytes = with_initializer(external(4, {{"location", "w.bin"}})).bytes();
    std::ofstream(folder_ / "m.onnx", std::ios::binary) << bytes;
    EXPECT_EQ(error_of(read_model(folder_ / "m.onnx")), "");
    // A model without a folder in its path lies in the current one.
    const fs::path before = fs::current_path();
    fs::current_path(folder_);
    EXPECT_EQ(error_of(read_model("m.onnx")), "");
    fs::current_path(before);
    std::ofstream(folder_ / "sub/m.onnx", std::ios::binary) << bytes;
    const std::string message = error_of(read_model(folder_ / "sub/m.onnx"));
    EXPECT_TRUE(message.starts_with((folder_ / "sub/m.onnx").string() + ": tensor 'w': external data: ")) << message;
}

// Two thirds of a file of 3 GiB that has no blocks on the disk.
TEST_F(ExternalData, MayBeLarge) {
    std::ofstream(folder_ / "large.bin").close();
    fs::resize_file(folder_ / "large.bin", uint64_t{3} << 30);
    const Message half = external(int64_t{1} << 29, {{"location", "large.bin"}, {"offset", "1073741824"}});
    const Result<Model> model = parsed(with_initializer(half), folder_);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->initializers[0].data.bytes().size(), size_t{1} << 31);
    EXPECT_EQ(model->initializers[0].data.bytes().back(), std::byte{0});
}

}  // namespace
}  // namespace kiln::graph::onnx
