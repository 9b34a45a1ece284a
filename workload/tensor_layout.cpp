#include "workload/tensor_layout.h"

#include <charconv>
#include <string>

namespace kiln {
namespace {

constexpr std::string_view activation_axes = "NCH", weight_axes = "OIH";
constexpr int64_t largest_block = 1024;

// Elements of its axis that one step of part `p` covers: those of the blocks further inside. Beyond the largest block
// any number above it.
int64_t step_of(const TensorLayout &layout, size_t p) {
    int64_t step = 1;
    for (size_t inner = p + 1; inner < layout.parts.size() && step <= largest_block; inner++) {
        if (layout.parts[inner].axis == layout.parts[p].axis) step *= layout.parts[inner].block;
    }
    return step;
}

}  // namespace

std::optional<TensorLayout> parse_tensor_layout(std::string_view text) {
    TensorLayout layout;
    layout.weights = text.find('O') != std::string_view::npos;
    const std::string_view axes = layout.weights ? weight_axes : activation_axes;
    for (int i = 0; i < 3; i++) {
        if (text.empty() || axes.find(text[0]) == std::string_view::npos) return std::nullopt;
        const char axis = text[0];
        for (const TensorLayout::Part &known : layout.parts) {
            if (known.axis == axis) return std::nullopt;
        }
        if (axis == 'H' && !text.starts_with("HW")) return std::nullopt;
        text.remove_prefix(axis == 'H' ? 2 : 1);
        layout.parts.push_back({axis});
    }
    while (!text.empty()) {
        int64_t block = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), block);
        if (error != std::errc() || text[0] == '0' || block < 2 || block > largest_block) return std::nullopt;
        text.remove_prefix(end - text.data());
        const char axis = text.empty() ? 0 : static_cast<char>(text[0] - 'a' + 'A');
        if (axis == 'H' || axes.find(axis) == std::string_view::npos) return std::nullopt;
        text.remove_prefix(1);
        layout.parts.push_back({axis, block});
    }
    for (size_t p = 0; p < 3; p++) {
        if (step_of(layout, p) > largest_block) return std::nullopt;
    }
    return layout;
}

std::vector<StoredDimension> layout_dimensions(const std::vector<int64_t> &logical, const TensorLayout &layout) {
    const size_t rank = logical.size() - 2;
    const int first_spatial = layout.weights ? 0 : 1;
    std::vector<StoredDimension> dimensions;
    for (size_t p = 0; p < layout.parts.size(); p++) {
        const auto &[axis, block] = layout.parts[p];
        if (axis == 'H') {
            for (size_t d = 0; d < rank; d++) {
                const int of = static_cast<int>(d) + first_spatial;
                dimensions.push_back({(layout.weights ? "k" : "") + spatial_name(d, rank), logical[of], of});
            }
            continue;
        }
        const int of = static_cast<int>(axis == 'N' ? 0 : axis == 'I' ? rank : rank + 1);
        std::string name = axis == 'N' ? "n" : axis == 'C' ? "c" : axis == 'O' ? "co" : "ci";
        const int64_t step = step_of(layout, p);
        const int64_t extent = block > 0 ? block : (logical[of] + step - 1) / step;
        if (step > 1) name += "_block";
        dimensions.push_back({name, extent, of, step});
    }
    return dimensions;
}

}  // namespace kiln
