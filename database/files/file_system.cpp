#include "database/files/file_system.h"

#include <sys/vfs.h>

#include <array>
#include <filesystem>
#include <utility>

namespace kiln {
namespace {

using Reach = FileSystem::Reach;

// Numbers of linux/magic.h and, for those that are not part of Linux, of their own sources.
struct Known {
    uint32_t type;
    const char *name;
    Reach reach;
};
constexpr std::array known_file_systems = {
    Known{0x6969, "nfs", Reach::network},       Known{0x517b, "smb", Reach::network},
    Known{0xfe534d42, "smb2", Reach::network},  Known{0xff534d42, "cifs", Reach::network},
    Known{0x5346414f, "afs", Reach::network},   Known{0x6b414653, "afs", Reach::network},
    Known{0x73757245, "coda", Reach::network},  Known{0x564c, "ncp", Reach::network},
    Known{0x00c36400, "ceph", Reach::network},  Known{0x0bd00bd0, "lustre", Reach::network},
    Known{0x47504653, "gpfs", Reach::network},  Known{0x7461636f, "ocfs2", Reach::network},
    Known{0x01161970, "gfs2", Reach::network},  Known{0x19830326, "beegfs", Reach::network},
    Known{0xaad7aaea, "panfs", Reach::network}, Known{0x65735546, "fuse", Reach::unknown},
    Known{0x01021997, "9p", Reach::unknown},    Known{0x786f4256, "vboxsf", Reach::unknown},
};

}  // namespace

FileSystem file_system(uint32_t statfs_type) {
    for (const Known &known : known_file_systems) {
        if (known.type == statfs_type) return {known.name, known.reach};
    }
    return {};
}

FileSystem file_system_of(const std::string &path) {
    struct statfs status {};
    if (statfs(path.c_str(), &status) != 0) {
        const std::filesystem::path folder = std::filesystem::path(path).parent_path();
        if (statfs(folder.empty() ? "." : folder.c_str(), &status) != 0) return {};
    }
    return file_system(static_cast<uint32_t>(status.f_type));
}

}  // namespace kiln
