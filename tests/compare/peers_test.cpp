#include "compare/peers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

TEST(Peers, Names) {
    EXPECT_TRUE(parse_peers("")->empty());
    EXPECT_EQ(*parse_peers("openvino,onednn"), (std::vector<std::string>{"openvino", "onednn"}));
    EXPECT_TRUE(parse_peers("litert"));
    for (const char *text : {"magic", "onednn,", ",onednn", "onednn,onednn", "oneDNN"}) {
        const auto peers = parse_peers(text);
        ASSERT_FALSE(peers.ok()) << text;
        EXPECT_EQ(peers.error().code, ErrorCode::usage);
    }
}

TEST(Peers, AreFoundInTheRepositoryOfTheExecutables) {
    const ScratchFolder folder;
    const std::string executables = (folder / "build/bin");
    std::filesystem::create_directories(executables);
    std::filesystem::create_directories((folder / "bench/peers"));
    EXPECT_TRUE(find_peers({}, "", "/nowhere")->empty());
    const auto missing = find_peers({"onednn"}, "", executables);
    ASSERT_FALSE(missing.ok());
    EXPECT_NE(missing.error().message.find("onednn_peer.py is missing"), std::string::npos) << missing.error().message;
    std::ofstream((folder / "bench/peers/onednn_peer.py")) << "";
    const auto not_installed = find_peers({"onednn"}, "", executables);
    ASSERT_FALSE(not_installed.ok());
    EXPECT_NE(not_installed.error().message.find("run bench/peers/setup"), std::string::npos);
    std::filesystem::create_directories((folder / ".peers/bin"));
    std::filesystem::create_symlink("/bin/sh", (folder / ".peers/bin/python"));
    for (const std::string &given : {std::string(), (folder / "")}) {
        const auto found = find_peers({"onednn"}, given, given.empty() ? executables : "/nowhere");
        ASSERT_TRUE(found.ok()) << found.error().message;
        ASSERT_EQ(found->size(), 1u);
        EXPECT_EQ((*found)[0].name, "onednn");
        EXPECT_TRUE((*found)[0].arguments[1].ends_with("bench/peers/onednn_peer.py"));
    }
}

class PeersOfOthers : public testing::Test {
protected:
    PeersOfOthers() {
        fs::create_directories(root_ / "build/bin");
        fs::create_directories(root_ / "bench/peers");
        fs::create_directories(root_ / ".peers/bin");
        for (const char *file : {"bench/peers/onednn_peer.py", "bench/peers/peer_protocol.py", ".peers/pyvenv.cfg"}) {
            std::ofstream(root_ / file) << "";
        }
        fs::create_symlink("/bin/sh", root_ / ".peers/bin/python");
    }

    Result<std::vector<PeerProgram>> find(const std::string &given) const {
        return find_peers({"onednn"}, given, root_ / "build/bin");
    }

    void expect_refused(const std::string &word) const {
        for (const std::string &given : {std::string(), root_.string()}) {
            const auto found = find(given);
            ASSERT_FALSE(found.ok()) << word;
            EXPECT_NE(found.error().message.find(word), std::string::npos) << found.error().message;
            EXPECT_EQ(found.error().code, ErrorCode::environment);
        }
    }

    const ScratchFolder folder_;
    const fs::path root_ = fs::path(folder_ / "a") / "kiln";
};

TEST_F(PeersOfOthers, NoOtherFolderIsSearched) {
    const fs::path deeper = root_ / "deeper/build/bin", before = fs::current_path();
    fs::create_directories(deeper);
    fs::current_path(root_);
    const auto found = find_peers({"onednn"}, "", deeper);
    fs::current_path(before);
    ASSERT_FALSE(found.ok());
    EXPECT_NE(found.error().message.find("--peers DIR"), std::string::npos) << found.error().message;
}

TEST_F(PeersOfOthers, WhatEverybodyCanWriteIsNotRun) {
    EXPECT_TRUE(find("").ok()) << find("").error().message;
    for (const char *path : {"", "bench", "bench/peers", "bench/peers/onednn_peer.py", "bench/peers/peer_protocol.py",
                             ".peers", ".peers/bin", ".peers/pyvenv.cfg", ".."}) {
        const fs::perms before = fs::status(root_ / path).permissions();
        fs::permissions(root_ / path, fs::perms::others_write, fs::perm_options::add);
        expect_refused("can be written by everybody");
        fs::permissions(root_ / path, before);
    }
    EXPECT_TRUE(find("").ok());
}

TEST_F(PeersOfOthers, AFolderForEverybodyMayHoldThem) {
    fs::permissions(root_ / "..", fs::perms::all | fs::perms::sticky_bit);
    EXPECT_TRUE(find("").ok()) << find("").error().message;
}

TEST_F(PeersOfOthers, LinksAreJudgedAtTheirEnd) {
    const fs::path elsewhere = folder_ / "elsewhere";
    fs::create_directory(elsewhere);
    fs::copy_file("/bin/sh", elsewhere / "python");
    fs::remove(root_ / ".peers/bin/python");
    fs::create_symlink(elsewhere / "python", root_ / ".peers/bin/python");
    EXPECT_TRUE(find("").ok()) << find("").error().message;
    fs::permissions(elsewhere, fs::perms::others_write, fs::perm_options::add);
    expect_refused("elsewhere can be written by everybody");
}

TEST_F(PeersOfOthers, WhatAnotherUserOwnsIsNotRun) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make files of others";
    for (const char *path :
         {"", "bench/peers/onednn_peer.py", ".peers", ".peers/bin", "..", "bench/peers/peer_protocol.py"}) {
        ASSERT_EQ(chown((root_ / path).c_str(), 12345, 0), 0);
        expect_refused("belongs to another user");
        ASSERT_EQ(chown((root_ / path).c_str(), 0, 0), 0);
    }
}

}  // namespace
}  // namespace kiln
