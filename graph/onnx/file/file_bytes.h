// The bytes of a file, mapped read-only. They stay readable as long as somebody holds `owner`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "workload/result.h"

namespace kiln::graph::onnx {

struct FileBytes {
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
};

enum class FinalLink { follow, refuse };  // where the path's last part is a symbolic link

// Regular files only: nothing else has a size that one can rely on. The error says why, without the path.
Result<FileBytes> map_file(const std::filesystem::path &path, FinalLink link);

}  // namespace kiln::graph::onnx
