// Elements that lie in files beside the model. Such a file is named by the model, so it may be anything: only a regular
// file inside the model's folder is read, wherever symbolic links lead.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "graph/constant_data.h"
#include "graph/onnx/file/file_bytes.h"
#include "workload/result.h"

namespace kiln::graph::onnx {

struct ExternalPlace {
    std::string location;      // relative to the model's folder
    std::string offset = "0";  // decimal, as the model says it
    std::optional<std::string> length;
};

class ExternalFiles {
public:
    explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // The `size` bytes at a place. A file is mapped once.
    Result<ConstantData> read(const ExternalPlace &place, int64_t size);

private:
    Result<FileBytes> open(const std::string &location);

    std::filesystem::path folder_;
    std::map<std::string, FileBytes> files_;  // by location
};

}  // namespace kiln::graph::onnx
