#include "package/output/package_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "package/output/package_files.h"
#include "tests/tuner/build/compiled_object.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

// Every entry below a folder: files with their bytes, links with their targets.
std::map<std::string, std::string> tree(const fs::path &folder) {
    std::map<std::string, std::string> result;
    for (const auto &entry : fs::recursive_directory_iterator(folder)) {
        std::string &text = result[fs::relative(entry.path().parent_path(), folder) / entry.path().filename()];
        if (entry.is_symlink()) {
            text = "-> " + fs::read_symlink(entry.path()).string();
        } else if (entry.is_regular_file()) {
            text = ScratchFolder::read(entry.path());
        }
    }
    return result;
}

class PackageFolderTest : public testing::Test {
protected:
    void write(const fs::path &path, const std::string &text) {
        fs::create_directories(path.parent_path());
        ScratchFolder::write(path, text);
    }

    // As write_package() would.
    void fill(const fs::path &folder, const std::string &name, const std::string &text) {
        for (const std::string &file : package_files(name)) write(folder / file, text);
        write(folder / "README.md", "# " + name + "\n" + text);
        write(folder / "share" / name / "manifest.json", R"({"format": "package/1", "name": ")" + name + "\"}");
    }

    Status build(const std::string &output, const std::string &name = "tiny") {
        Result<PackageFolder> folder = PackageFolder::create(output, name);
        if (!folder) return folder.error();
        fill(folder->path(), name, "new");
        return folder->commit();
    }

    void expect_refused(const std::string &output, const std::string &word, const std::string &name = "tiny") {
        const auto before = tree(out_);
        const Status status = build(output, name);
        ASSERT_FALSE(status.ok()) << output << " " << word;
        EXPECT_NE(status.error().message.find(word), std::string::npos) << status.error().message;
        EXPECT_EQ(tree(out_), before) << "nothing is changed, and nothing is left over";
    }

    ScratchFolder scratch_;
    fs::path out_ = [this] {
        fs::create_directory(scratch_ / "out");
        return fs::path(scratch_ / "out");
    }();
    fs::path dist_ = out_ / "dist";
};

TEST_F(PackageFolderTest, ReplacesWhatItMadeAndNothingElse) {
    ASSERT_TRUE(build(dist_).ok());
    fill(dist_, "tiny", "old");
    ASSERT_TRUE(build(dist_).ok());
    EXPECT_EQ(ScratchFolder::read(dist_ / "lib/libtiny.a"), "new");
    EXPECT_EQ(tree(out_).size(), tree(dist_).size() + 1) << "nothing is left over";
}

TEST_F(PackageFolderTest, APackageWithForeignFilesStays) {
    struct Row {
        const char *word;
        std::function<void(const fs::path &)> add;
    };
    const Row rows[] = {
        {"`src`", [&](const fs::path &d) { write(d / "src/main.c", "years of work"); }},
        {"`lib/mine.a`", [&](const fs::path &d) { write(d / "lib/mine.a", "mine"); }},
        {"`share/tiny/notes`", [&](const fs::path &d) { write(d / "share/tiny/notes", "mine"); }},
        {"`.git`", [&](const fs::path &d) { fs::create_directory(d / ".git"); }},
        {"`README.md`", [&](const fs::path &d) { write(d / "README.md", "# My thesis\n"); }},
        {"`lib/libtiny.so`",
         [&](const fs::path &d) {
             fs::remove(d / "lib/libtiny.so");
             fs::create_symlink("/etc/passwd", d / "lib/libtiny.so");
         }},
        {"`include`",
         [&](const fs::path &d) {
             fs::rename(d / "include", out_ / "elsewhere");
             fs::create_directory_symlink(out_ / "elsewhere", d / "include");
         }},
        {"`lib/libtiny.a`",
         [&](const fs::path &d) {
             fs::remove(d / "lib/libtiny.a");
             mkfifo((d / "lib/libtiny.a").c_str(), 0666);
         }},
        {"and 2 more",
         [&](const fs::path &d) {
             for (const char *file : {"a", "b", "c", "d", "e"}) write(d / file, "");
         }},
    };
    for (const Row &row : rows) {
        fs::remove_all(out_);
        fill(dist_, "tiny", "old");
        row.add(dist_);
        const Status status = build(dist_);
        ASSERT_FALSE(status.ok()) << row.word;
        EXPECT_EQ(status.error().code, ErrorCode::bad_input);
        EXPECT_NE(status.error().message.find(row.word), std::string::npos) << status.error().message;
        EXPECT_NE(status.error().message.find("choose another output"), std::string::npos);
        EXPECT_TRUE(fs::exists(dist_ / "share/tiny/manifest.json"));
    }
}

TEST_F(PackageFolderTest, APackageOfAnotherNameStays) {
    fill(dist_, "other", "old");
    expect_refused(dist_, "holds the package other");
    fill(dist_, "second", "old");
    expect_refused(dist_, "besides the package other", "other");
}

TEST_F(PackageFolderTest, OutputsThatAreNoPackageStay) {
    write(out_ / "claims/share/tiny/manifest.json", R"({"format": "package/1", "name": "another"})");
    write(out_ / "deep/share/tiny/manifest.json", std::string(100000, '['));
    write(out_ / "project/share/../x", "mine");
    fs::create_directories(out_ / "link/share/tiny");
    write(out_ / "manifest.json", R"({"format": "package/1", "name": "tiny"})");
    fs::create_symlink(out_ / "manifest.json", out_ / "link/share/tiny/manifest.json");
    for (const char *folder : {"claims", "deep", "project", "link"}) {
        expect_refused(out_ / folder, "not a package of kiln's");
    }
    expect_refused(out_ / "manifest.json", "not a folder");
    mkfifo((out_ / "fifo").c_str(), 0666);
    expect_refused(out_ / "fifo", "not a folder");
}

TEST_F(PackageFolderTest, LinksLeadToTheirFolder) {
    fill(out_ / "real", "tiny", "old");
    fs::create_directory_symlink("real", dist_);
    for (const std::string &output : {dist_.string(), dist_.string() + "/"}) {
        ASSERT_TRUE(build(output).ok());
        EXPECT_TRUE(fs::is_symlink(dist_));
        EXPECT_EQ(ScratchFolder::read(out_ / "real/lib/libtiny.a"), "new");
    }
    fs::create_symlink(out_ / "nowhere", out_ / "dangling");
    expect_refused(out_ / "dangling", "does not exist");
    fs::create_symlink("loop", out_ / "loop");
    expect_refused(out_ / "loop", "loop");
}

TEST_F(PackageFolderTest, WhatBelongsToOthersStays) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make files of others";
    fill(out_ / "theirs", "tiny", "old");
    fs::create_directory(out_ / "empty");
    fs::create_directory(out_ / "victim");
    fs::create_directory_symlink(out_ / "victim", out_ / "trap");
    for (const char *name : {"theirs", "empty", "trap"}) ASSERT_EQ(lchown((out_ / name).c_str(), 12345, 12345), 0);
    expect_refused(out_ / "theirs", "another user");
    expect_refused(out_ / "empty", "another user");
    expect_refused(out_ / "trap", "another user");
}

TEST_F(PackageFolderTest, FoldersAboveAnOutputGoWithABuildThatEnds) {
    fs::create_directory(out_ / "old");
    struct Row {
        const char *output, *first;  // the outermost folder that is made
        bool commits;
    };
    const Row rows[] = {
        {"x/y/z", "x", false}, {"old/y/z", "old/y", false}, {"x/y/z", "x", true}, {"x/y/w", "x/y/w", false}};
    for (const Row &row : rows) {
        const auto before = tree(out_);
        {
            Result<PackageFolder> folder = PackageFolder::create(out_ / row.output, "tiny");
            ASSERT_TRUE(folder.ok()) << row.output;
            EXPECT_TRUE(fs::exists((out_ / row.output).parent_path()));
            fill(folder->path(), "tiny", "new");
            if (row.commits) {
                ASSERT_TRUE(folder->commit().ok());
            }
        }
        EXPECT_EQ(fs::exists(out_ / row.first), row.commits) << row.output;
        EXPECT_EQ(tree(out_) == before, !row.commits) << row.output;
    }
}

TEST_F(PackageFolderTest, FoldersAboveAnOutputThatOthersUseStay) {
    {
        Result<PackageFolder> folder = PackageFolder::create(out_ / "x/y/z", "tiny");
        ASSERT_TRUE(folder.ok());
        write(out_ / "x/thesis.txt", "years of work");
    }
    EXPECT_EQ(ScratchFolder::read(out_ / "x/thesis.txt"), "years of work");
    EXPECT_FALSE(fs::exists(out_ / "x/y"));
    write(out_ / "file", "mine");
    expect_refused(out_ / "file/y/z", "Not a directory");
}

TEST_F(PackageFolderTest, NamesOfAnyLength) {
    const std::string longest(255, 'x');
    EXPECT_TRUE(build(out_ / longest).ok());
    EXPECT_TRUE(build(out_ / longest).ok()) << "and again";
    expect_refused(out_ / (longest + "x"), "File name too long");
}

TEST_F(PackageFolderTest, AKilledBuildLeavesNothingForLong) {
    fill(out_ / ".dist.kiln-abcdef", "tiny", "half");
    fs::remove(out_ / ".dist.kiln-abcdef/lib/libtiny.so");
    write(out_ / ".dist.kiln-abcdef/.kiln-build", "tiny");
    ASSERT_TRUE(build(dist_).ok());
    EXPECT_FALSE(fs::exists(out_ / ".dist.kiln-abcdef"));
}

TEST_F(PackageFolderTest, LeftoversThatMayBeSomebodysStay) {
    const fs::path other = out_ / ".dist.kiln-2147483646";  // as earlier versions named them, or another container's
    write(other / "thesis.txt", "years of work");
    const fs::path mixed = out_ / ".dist.kiln-aaaaaa";
    fill(mixed, "tiny", "half");
    write(mixed / ".kiln-build", "tiny");
    write(mixed / "lib/thesis.txt", "years of work");
    const fs::path busy = out_ / ".dist.kiln-bbbbbb";
    fill(busy, "tiny", "at work");
    write(busy / ".kiln-build", "tiny");
    const int lock = open(busy.c_str(), O_RDONLY | O_DIRECTORY);
    ASSERT_EQ(flock(lock, LOCK_EX), 0);
    const fs::path link = out_ / ".dist.kiln-cccccc";
    fill(out_ / "elsewhere", "tiny", "mine");
    write(out_ / "elsewhere/.kiln-build", "tiny");
    fs::create_directory_symlink(out_ / "elsewhere", link);
    const auto busy_before = tree(busy), elsewhere_before = tree(out_ / "elsewhere");

    ASSERT_TRUE(build(dist_).ok());
    close(lock);
    EXPECT_EQ(ScratchFolder::read(other / "thesis.txt"), "years of work");
    EXPECT_EQ(ScratchFolder::read(mixed / "lib/thesis.txt"), "years of work");
    EXPECT_EQ(tree(busy), busy_before);
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(tree(out_ / "elsewhere"), elsewhere_before);
}

TEST_F(PackageFolderTest, TwoBuildsDoNotDisturbEachOther) {
    Result<PackageFolder> first = PackageFolder::create(dist_, "tiny");
    ASSERT_TRUE(first.ok());
    fill(first->path(), "tiny", "first");
    ASSERT_TRUE(build(dist_).ok());
    ASSERT_TRUE(fs::exists(first->path() / "lib/libtiny.a")) << "the folder of a build that lives stays";
    ASSERT_TRUE(first->commit().ok());
    EXPECT_EQ(ScratchFolder::read(dist_ / "lib/libtiny.a"), "first");
}

TEST_F(PackageFolderTest, AFileThatAppearsBeforeTheEndStays) {
    fill(dist_, "tiny", "old");
    Result<PackageFolder> folder = PackageFolder::create(dist_, "tiny");
    ASSERT_TRUE(folder.ok());
    fill(folder->path(), "tiny", "new");
    write(dist_ / "thesis.txt", "years of work");
    const Status status = folder->commit();
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().message.find("thesis.txt"), std::string::npos);
    EXPECT_EQ(ScratchFolder::read(dist_ / "lib/libtiny.a"), "old");
}

}  // namespace
}  // namespace kiln
