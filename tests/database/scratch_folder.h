// A folder that is gone with the test, readable by other users (some tests give up their rights).
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace kiln {

class ScratchFolder {
public:
    ScratchFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "kiln-database-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
        std::filesystem::permissions(path_, std::filesystem::perms(0755));
    }
    ScratchFolder(const ScratchFolder &) = delete;
    ScratchFolder &operator=(const ScratchFolder &) = delete;
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    std::string operator/(const std::string &name) const { return (path_ / name).string(); }

    static void write(const std::string &path, const std::string &bytes) {
        std::ofstream(path, std::ios::binary) << bytes;
    }
    static std::string read(const std::string &path) {
        std::ifstream file(path, std::ios::binary | std::ios::ate);
        if (!file) return {};
        std::string bytes(static_cast<size_t>(file.tellg()), '\0');
        file.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        return bytes;
    }

private:
    std::filesystem::path path_;
};

}  // namespace kiln
