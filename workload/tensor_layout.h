// Layouts of layout_transform, as texts: the axes in the order of memory, then blocks of them.
//
//   layout := axes *( size axis )     axes: N C HW in any order (activations), or O I HW (weights)
//   size   := 2 to 1024               axis: n c, or o i
//
// NCHW16c has channels in blocks of 16, which are innermost; OIHW16i16o has weights in blocks of both channels. HW
// stands for the spatial dimensions of every rank. An axis may be in blocks of blocks: OIHW4i16o4i has 16 input
// channels a block, in fours. Together the blocks of an axis hold at most 1024.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workload/signature.h"

namespace kiln {

struct TensorLayout {
    bool weights = false;
    struct Part {
        char axis = 0;      // N, C, O, I, or H for all spatial dimensions
        int64_t block = 0;  // 0: the axis, or how many blocks of it there are
        bool operator==(const Part &) const = default;
    };
    std::vector<Part> parts;  // outermost first
    bool operator==(const TensorLayout &) const = default;
};

std::optional<TensorLayout> parse_tensor_layout(std::string_view text);

// Dimensions of a tensor whose logical extents are N, spatial, C or spatial, I, O. Blocks of an axis are rounded up, so
// that its dimensions hold at least its extent.
std::vector<StoredDimension> layout_dimensions(const std::vector<int64_t> &logical, const TensorLayout &layout);

}  // namespace kiln
