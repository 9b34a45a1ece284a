// Files that are no models.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/graph/onnx/parsed.h"

namespace kiln::graph::onnx {
namespace {

namespace fs = std::filesystem;

TEST(ForeignFile, IsNamed) {
    const struct {
        std::string bytes;
        const char *message;
    } rows[] = {
        {"", "it is empty"},
        {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "it is a Git LFS pointer, "},
        {"PK\x03\x04rest", "it is a zip archive, as .pt"},
        {std::string("\x1c\0\0\0TFL3\0\0", 10), "it is a TensorFlow Lite model: "},
        {std::string("\x1c\0\0\0ORTM\0\0", 10), "it is a model in ONNX Runtime's own format: "},
        {std::string("\x40\0\0\0\0\0\0\0{\"w\":1}", 15), "it is a safetensors file"},
        {"\x80\x02}q", "it is a Python pickle"},
        {"\x89HDF\r\n", "it is an HDF5 file"},
        {"<!DOCTYPE html>", "it is a web page"},
        {"<?xml version=\"1.0\"?>", "it is XML"},
        {"ir_version: 8\n", "it is a model in protobuf's text format"},
        {"{\"format\": 1}", "it is text, perhaps JSON"},
        {"conv2d/input:1x56x56x64", "it is text"},
        {"\x0a\x05\x0a\x01x\x12\x00", "it may be a TensorFlow graph"},
        {std::string(600, '\0'), "it has bytes that are no field of protobuf"},
    };
    for (const auto &row : rows) {
        const std::string message = error_of(parsed(row.bytes));
        EXPECT_TRUE(message.starts_with(std::string("not an ONNX model: ") + row.message)) << message;
    }
}

TEST(ForeignFile, PathsThatAreNoFiles) {
    const fs::path missing = fs::path(testing::TempDir()) / "kiln_no_such_model.onnx";
    const struct {
        fs::path path;
        const char *message;
        ErrorCode code;
    } rows[] = {
        {missing, ": cannot be read: No such file or directory", ErrorCode::bad_input},
        {"", ": cannot be read: No such file or directory", ErrorCode::bad_input},
        {testing::TempDir(), ": is a folder", ErrorCode::bad_input},
        {"/dev/zero", ": is not a regular file: copy it into one", ErrorCode::bad_input},
    };
    for (const auto &row : rows) {
        const Result<Model> model = read_model(row.path);
        EXPECT_EQ(error_of(model), row.path.string() + row.message);
        EXPECT_EQ(model.error().code, row.code);
    }
}

}  // namespace
}  // namespace kiln::graph::onnx
