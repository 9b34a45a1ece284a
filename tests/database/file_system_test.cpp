#include "database/files/file_system.h"

#include <gtest/gtest.h>

#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

using Reach = FileSystem::Reach;

TEST(FileSystem, IsKnownByItsNumber) {
    const struct {
        uint32_t type;
        const char *name;
        Reach reach;
    } cases[] = {
        {0x6969, "nfs", Reach::network},      {0xff534d42, "cifs", Reach::network},
        {0xfe534d42, "smb2", Reach::network}, {0x0bd00bd0, "lustre", Reach::network},
        {0x65735546, "fuse", Reach::unknown}, {0x01021997, "9p", Reach::unknown},
        {0xef53, "", Reach::local},      // ext4
        {0x01021994, "", Reach::local},  // tmpfs
        {0x9123683e, "", Reach::local},  // btrfs
    };
    for (const auto &c : cases) {
        const FileSystem found = file_system(c.type);
        EXPECT_EQ(found.name, c.name);
        EXPECT_EQ(found.reach, c.reach) << c.name;
    }
}

TEST(FileSystem, OfAFileThatIsStillToBeMadeIsThatOfItsFolder) {
    const ScratchFolder folder;
    ScratchFolder::write(folder / "there", "");
    EXPECT_EQ(file_system_of(folder / "there").reach, file_system_of(folder / "not there").reach);
    EXPECT_EQ(file_system_of("/no/such/folder/file").reach, Reach::local);
    EXPECT_EQ(file_system_of("/proc/version").reach, Reach::local);
}

}  // namespace
}  // namespace kiln
