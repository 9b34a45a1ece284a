// The elements of a constant: dense, in row-major order of its shape.
//
// Bytes are shared, not copied: they may lie in a mapped file, which `owner` keeps open.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace kiln::graph {

class ConstantData {
public:
    ConstantData() = default;
    explicit ConstantData(std::vector<std::byte> bytes);
    ConstantData(std::shared_ptr<const void> owner, std::span<const std::byte> bytes);

    std::span<const std::byte> bytes() const { return bytes_; }
    bool operator==(const ConstantData &other) const;  // of their bytes

private:
    std::shared_ptr<const void> owner_;
    std::span<const std::byte> bytes_;
};

}  // namespace kiln::graph
