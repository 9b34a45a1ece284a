// A whole file, mapped read-only.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "workload/result.h"

namespace kiln {

class MappedFile {
public:
    static Result<MappedFile> open(const std::string &path);
    MappedFile(MappedFile &&other) noexcept : data_(std::exchange(other.data_, {})) {}
    MappedFile &operator=(MappedFile &&) = delete;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return data_; }
    std::span<const double> doubles() const {
        return {reinterpret_cast<const double *>(data_.data()), data_.size() / sizeof(double)};
    }

private:
    explicit MappedFile(std::span<const std::byte> data) : data_(data) {}
    std::span<const std::byte> data_;
};

}  // namespace kiln
