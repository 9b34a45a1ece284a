#include "graph/constant_data.h"

#include <algorithm>
#include <utility>

namespace kiln::graph {

ConstantData::ConstantData(std::vector<std::byte> bytes) {
    auto owned = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    bytes_ = *owned;
    owner_ = std::move(owned);
}

ConstantData::ConstantData(std::shared_ptr<const void> owner, std::span<const std::byte> bytes)
    : owner_(std::move(owner)), bytes_(bytes) {}

bool ConstantData::operator==(const ConstantData &other) const {
    if (bytes_.data() == other.bytes_.data() && bytes_.size() == other.bytes_.size()) return true;
    return std::ranges::equal(bytes_, other.bytes_);
}

}  // namespace kiln::graph
