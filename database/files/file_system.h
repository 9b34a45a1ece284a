// The kind of file system that a database lies on. SQLite's locks are those of the operating system, and nobody can
// rely on them over a network.
#pragma once

#include <cstdint>
#include <string>

namespace kiln {

struct FileSystem {
    enum class Reach {
        local,
        network,  // other machines may have the file open, and locks may not reach them
        unknown,  // passes files on from somewhere else, which may be a network
    };
    std::string name;  // "nfs"; empty for local ones, of which there are too many
    Reach reach = Reach::local;
};

// By the number that statfs() calls a file system by (statfs(2), f_type).
FileSystem file_system(uint32_t statfs_type);

// The file system of the file, or of its folder where the file does not exist yet. `local` where neither can be asked.
FileSystem file_system_of(const std::string &path);

}  // namespace kiln
