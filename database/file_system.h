// What kind of file system a database lies on: SQLite's locks are those of the operating system, and over a network
// they cannot be relied on.
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

// Of the file, or where it does not exist of the folder that it would be made in; local where it cannot be told.
FileSystem file_system_of(const std::string &path);

}  // namespace kiln
