#include "json/file_text.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

namespace kiln {
namespace {

class FileText : public testing::Test {
protected:
    FileText() { std::filesystem::create_directories(folder_); }
    ~FileText() override { std::filesystem::remove_all(folder_); }

    std::string path(const std::string &name) const { return folder_ + "/" + name; }

    void expect_refused(const std::string &file, const std::string &word) const {
        const auto text = read_file_text(file, 1000);
        ASSERT_FALSE(text) << file;
        EXPECT_EQ(text.error().code, ErrorCode::bad_input);
        EXPECT_EQ(text.error().message.find(file + ": "), 0u) << text.error().message;
        EXPECT_NE(text.error().message.find(word), std::string::npos) << text.error().message;
    }

    const std::string folder_ = testing::TempDir() + "/kiln_file_text_" + std::to_string(getpid());
};

TEST_F(FileText, IsReadAsAWhole) {
    for (const size_t size : {0, 1, 1000}) {
        std::ofstream(path("file")) << std::string(size, 'x');
        const auto text = read_file_text(path("file"), 1000);
        ASSERT_TRUE(text) << text.error().message;
        EXPECT_EQ(*text, std::string(size, 'x'));
    }
}

TEST_F(FileText, WithoutEndIsRefused) {
    std::ofstream(path("large")) << std::string(1001, 'x');
    expect_refused(path("large"), "has more than 1000 bytes");
    std::ofstream(path("sparse")) << "";
    std::filesystem::resize_file(path("sparse"), std::uintmax_t(1) << 40);
    expect_refused(path("sparse"), "has more than");
    ASSERT_EQ(mkfifo(path("queue").c_str(), 0600), 0);
    expect_refused(path("queue"), "is no regular file");
    expect_refused("/dev/zero", "is no regular file");
    expect_refused(folder_, "is a folder");
    expect_refused(path("missing"), "cannot be opened: No such file");
    EXPECT_FALSE(read_file_text("/dev/zero", 1000, FileKind::any_stream)) << "the user's own streams end, too";
}

// What is no mistake in a name has another exit status.
TEST_F(FileText, NoPermissionAndAFailingDiskAreTheEnvironments) {
    const auto failed = read_file_text("/proc/self/mem", 1000);  // nothing is mapped at its beginning
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::environment);
    EXPECT_EQ(failed.error().message, "/proc/self/mem: cannot be read: Input/output error");
    struct Row {
        int problem;
        ErrorCode code;
    };
    const Row rows[] = {{EACCES, ErrorCode::environment}, {EPERM, ErrorCode::environment},
                        {EIO, ErrorCode::environment},    {ENOENT, ErrorCode::bad_input},
                        {ENOTDIR, ErrorCode::bad_input},  {ELOOP, ErrorCode::bad_input}};
    for (const Row &row : rows) EXPECT_EQ(file_error("a", "opened", row.problem).code, row.code) << row.problem;
    if (geteuid() == 0) return;  // root may read everything
    std::ofstream(path("secret")) << "text";
    std::filesystem::permissions(path("secret"), std::filesystem::perms::none);
    EXPECT_EQ(read_file_text(path("secret"), 1000).error().code, ErrorCode::environment);
}

TEST_F(FileText, MayComeFromAQueueThatTheUserNames) {
    ASSERT_EQ(mkfifo(path("queue").c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(path("queue")) << "text"; });
    const auto text = read_file_text(path("queue"), 1000, FileKind::any_stream);
    writer.join();
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(*text, "text");
}

}  // namespace
}  // namespace kiln
