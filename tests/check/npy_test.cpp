#include "check/npy.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace kiln {
namespace {

std::string file(const std::string &header, const std::string &data, char version = 1) {
    std::string bytes = "\x93NUMPY";
    bytes += {version, 0, static_cast<char>(header.size()), 0};
    if (version == 2) bytes += {0, 0};
    return bytes + header + data;
}

std::string header(const std::string &descr, const std::string &shape, const std::string &fortran = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }   \n";
}

struct GoodFile {
    const char *what;
    std::string bytes, descr;
    std::vector<int64_t> shape;
    size_t data_bytes;
};

const GoodFile good_files[] = {
    {"f32", file(header("<f4", "(2, 3)"), std::string(24, 'x')), "<f4", {2, 3}, 24},
    {"f16", file(header("<f2", "(3,)"), std::string(6, 'x')), "<f2", {3}, 6},
    {"bf16 bits", file(header("<u2", "(1, 1, 2)"), std::string(4, 'x')), "<u2", {1, 1, 2}, 4},
    {"i8", file(header("|i1", "(5,)"), std::string(5, 'x')), "|i1", {5}, 5},
    {"i32", file(header("<i4", "(1,)"), std::string(4, 'x')), "<i4", {1}, 4},
    {"i64", file(header("<i8", "(2,)"), std::string(16, 'x')), "<i8", {2}, 16},
    {"bool", file(header("|b1", "(3,)"), std::string(3, '\1')), "|b1", {3}, 3},
    {"u64", file(header("<u8", "(1,)"), std::string(8, 'x')), "<u8", {1}, 8},
    {"f64", file(header("<f8", "(1,)"), std::string(8, 'x')), "<f8", {1}, 8},
    {"scalar", file(header("<f4", "()"), std::string(4, 'x')), "<f4", {}, 4},
    {"empty", file(header("<f4", "(3, 0)"), ""), "<f4", {3, 0}, 0},
    {"empty however large", file(header("<f4", "(9223372036854775807, 4, 0)"), ""), "<f4", {INT64_MAX, 4, 0}, 0},
    {"version 2", file(header("<f4", "(1,)"), std::string(4, 'x'), 2), "<f4", {1}, 4},
    {"other order of keys",
     file("{\"shape\": (1,), \"descr\": \"<f4\", \"fortran_order\": False}", "1234"),
     "<f4",
     {1},
     4},
};

TEST(Npy, ReadsGoodFiles) {
    for (const GoodFile &f : good_files) {
        const auto array = parse_npy(f.bytes, "x.npy");
        ASSERT_TRUE(array) << f.what << ": " << array.error().message;
        EXPECT_EQ(array->descr, f.descr) << f.what;
        EXPECT_EQ(array->shape, f.shape) << f.what;
        EXPECT_EQ(array->data.size(), f.data_bytes) << f.what;
    }
}

struct BadFile {
    std::string bytes;
    const char *reason;
};

const BadFile bad_files[] = {
    {"", "not a .npy file"},
    {"PK\x03\x04 something else", "not a .npy file"},
    {file(header("<f4", "(1,)"), "1234", 3), "version 3"},
    {file(header("<f4", "(1,)"), "1234").substr(0, 30), "truncated in its header"},
    {std::string("\x93NUMPY\x02\x00\x01\x00", 10), "truncated in its header"},
    {file(header("<f4", "(2,)"), "1234"), "truncated?"},
    {file(header("<f4", "(1,)"), "12345"), "5 bytes of data"},
    {file(header("<f4", "(1,)", "True"), "1234"), "Fortran order"},
    {file(header(">f4", "(1,)"), "1234"), "element type `>f4`"},
    {file(header("|O", "(1,)"), "1234"), "element type `|O`"},
    {file(header("<f4", "(4611686018427387904, 4)"), "1234"), "too large"},
    {file(header("<f4", "(9223372036854775808,)"), "1234"), "malformed"},
    {file(header("<f4", "(-1,)"), "1234"), "malformed"},
    {file(header("<f4", "(1 2)"), "1234"), "malformed"},
    {file(header("<f4", "(1"), "1234"), "malformed"},
    {file(header("<f4", "(1,)", "Maybe"), "1234"), "malformed"},
    {file("{'descr': '<f4', 'shape': (1,), }", "1234"), "malformed"},
    {file("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1, }", "1234"), "malformed"},
    {file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234"), "malformed"},
    {file("", ""), "malformed"},
    {file("{'descr': '" + std::string(200, 'x') + "', 'fortran_order': False, 'shape': (1,), }", "1234"), "malformed"},
    {"\x93NUMPY\x02" + std::string(1, '\0') + "\xff\xff\x01" + std::string(1, '\0') + std::string(0x1ffff, ' '),
     "a header that is too long"},
};

TEST(Npy, RefusesBadFilesByNameAndReason) {
    for (const BadFile &f : bad_files) {
        const auto array = parse_npy(f.bytes, "folder/x.npy");
        ASSERT_FALSE(array) << f.reason;
        EXPECT_NE(array.error().message.find("folder/x.npy: "), std::string::npos) << array.error().message;
        EXPECT_NE(array.error().message.find(f.reason), std::string::npos) << array.error().message;
    }
}

TEST(Npy, RefusesEveryPrefixOfAFile) {
    const std::string whole = npy_bytes({"<f4", {2, 2}, std::vector<std::byte>(16)});
    ASSERT_TRUE(parse_npy(whole, "x"));
    for (size_t n = 0; n < whole.size(); n++) EXPECT_FALSE(parse_npy(whole.substr(0, n), "x")) << n;
}

TEST(Npy, HasAtMostTheDimensionsOfNumPy) {
    std::string extents;
    for (int i = 0; i < 33; i++) extents += "1, ";
    EXPECT_FALSE(parse_npy(file(header("<f4", "(" + extents + ")"), "1234"), "x"));
    EXPECT_TRUE(parse_npy(file(header("<f4", "(" + extents.substr(3) + ")"), "1234"), "x"));
}

TEST(Npy, FilesThatNeverEndAreRefused) {
    const std::string path = testing::TempDir() + "/kiln_npy_test_endless.npy";
    std::filesystem::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    const auto from_queue = read_npy(path);
    std::filesystem::remove(path);
    ASSERT_FALSE(from_queue);
    EXPECT_NE(from_queue.error().message.find("is no regular file"), std::string::npos) << from_queue.error().message;
    EXPECT_FALSE(read_npy("/dev/zero"));

    // A sparse file of a terabyte, with a header that says so.
    std::ofstream(path) << file(header("<f4", "(274877906944,)"), "");
    std::filesystem::resize_file(path, std::uintmax_t(1) << 40);
    const auto sparse = read_npy(path);
    std::filesystem::remove(path);
    ASSERT_FALSE(sparse);
    EXPECT_NE(sparse.error().message.find("has more than 4096 MiB"), std::string::npos) << sparse.error().message;
}

TEST(Npy, RoundTripsThroughAFile) {
    const std::string path = testing::TempDir() + "/kiln_npy_test.npy";
    for (const auto &shape : {std::vector<int64_t>{}, {3}, {2, 0}, {2, 3, 4, 5}}) {
        Tensor tensor{DType::bf16, shape, std::vector<std::byte>(2 * elements(shape))};
        for (size_t i = 0; i < tensor.data.size(); i++) tensor.data[i] = std::byte(i * 7);
        ASSERT_TRUE(write_npy(path, to_npy(tensor)));
        EXPECT_EQ(npy_bytes(to_npy(tensor)).size() % 64, tensor.data.size() % 64);
        auto array = read_npy(path);
        ASSERT_TRUE(array) << array.error().message;
        const auto back = to_tensor(std::move(*array), DType::bf16, path);
        ASSERT_TRUE(back);
        EXPECT_EQ(*back, tensor);
    }
    std::filesystem::remove(path);
    EXPECT_FALSE(read_npy(path));
    EXPECT_FALSE(write_npy("/nonexistent/folder/x.npy", {}));
}

TEST(Npy, TensorsMustHaveTheirTypesStorage) {
    const auto tensor = to_tensor({"<u2", {0}, {}}, DType::f16, "x.npy");
    ASSERT_FALSE(tensor);
    EXPECT_NE(tensor.error().message.find("f16 is stored as `<f2`"), std::string::npos);
}

}  // namespace
}  // namespace kiln
