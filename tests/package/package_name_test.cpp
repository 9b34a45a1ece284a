#include "package/output/package_name.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(PackageName, IsThatOfACFunction) {
    for (const char *good : {"kiln_kernels", "resnet50", "_x", "a", "kiln_1", "ints", "stdio_", "mm"}) {
        EXPECT_TRUE(check_package_name(good).ok()) << good;
    }
    for (const char *bad : {"", "50", "ResNet", "a-b", "a b", "a/b", "../x", "ä", "a\n", "x.y"}) {
        const Status status = check_package_name(bad);
        ASSERT_FALSE(status.ok()) << bad;
        EXPECT_EQ(status.error().code, ErrorCode::usage);
    }
    EXPECT_TRUE(check_package_name(std::string(64, 'a')).ok());
}

TEST(PackageName, BelongsToNobodyElse) {
    struct Row {
        const char *name, *owner;
    };
    const Row rows[] = {
        {"kiln", "kiln.h"},  // its type kiln_package
        {"int", "C or C++"},     {"co_await", "C or C++"}, {"linux", "C or C++"}, {"stdio", "a header"},
        {"pthread", "a header"}, {"string", "a header"},   {"c", "a library"},    {"m", "a library"},
        {"gcc_s", "a library"},  {"aux", "file systems"},  {"osg", "CMake"},
    };
    for (const Row &row : rows) {
        const Status status = check_package_name(row.name);
        ASSERT_FALSE(status.ok()) << row.name;
        EXPECT_EQ(status.error().code, ErrorCode::usage);
        EXPECT_NE(status.error().message.find(row.owner), std::string::npos) << status.error().message;
    }
}

TEST(PackageName, OfAnyLengthHasAShortMessage) {
    for (const size_t length : {size_t(65), size_t(1) << 20}) {
        const Status status = check_package_name(std::string(length, 'a'));
        ASSERT_FALSE(status.ok());
        EXPECT_LT(status.error().message.size(), 200u);
    }
}

}  // namespace
}  // namespace kiln
