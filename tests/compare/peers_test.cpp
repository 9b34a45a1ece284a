#include "compare/peers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

TEST(Peers, Names) {
    EXPECT_TRUE(parse_peers("")->empty());
    EXPECT_EQ(*parse_peers("openvino,onednn"), (std::vector<std::string>{"openvino", "onednn"}));
    for (const char *text : {"magic", "onednn,", ",onednn", "onednn,onednn", "oneDNN"}) {
        const auto peers = parse_peers(text);
        ASSERT_FALSE(peers.ok()) << text;
        EXPECT_EQ(peers.error().code, ErrorCode::usage);
    }
}

TEST(Peers, AreFoundAboveTheExecutables) {
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

}  // namespace
}  // namespace kiln
