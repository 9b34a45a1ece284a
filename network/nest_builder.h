// Makes the nest of one node: its loops are the axes of the result as they lie in memory, and its reads go by logical axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "graph/constant_data.h"
#include "graph/element.h"
#include "graph/memory/storage.h"
#include "workload/nest/nest.h"
#include "workload/result.h"

namespace kiln::network {

// Elements that one nest alone needs.
struct NestConstant {
    graph::Element type = graph::Element::f32;  // or i32, of a table
    graph::ConstantData data;
    bool operator==(const NestConstant &) const = default;
};

// Where an operand of a nest comes from: an input of the node, by its number, or a constant.
using NestSource = std::variant<size_t, NestConstant>;

struct NodeNest {
    Nest nest;
    std::vector<NestSource> sources;  // by operand
};

// An axis of the result that is two loops, the inner one of `block` elements.
struct BlockedAxis {
    int axis = 0;
    int64_t block = 1;
};

// The axis that a value has in blocks.
std::optional<BlockedAxis> blocked_axis(const graph::Stored &value);
// Those of inputs that are aligned with the result at its innermost axes, as axes of the result.
std::vector<BlockedAxis> blocked_axes(const std::vector<graph::Stored> &inputs, size_t result_axes);

class NestBuilder {
public:
    // `blocked` are axes that inputs have in blocks. The blocks of the result are those of its order.
    NestBuilder(const graph::Stored &result, const std::vector<BlockedAxis> &blocked);

    // The index that walks along an axis of the result, times `factor`, plus `offset`.
    NestIndex along(int axis, int64_t factor = 1, int64_t offset = 0) const;
    // A new loop of the reduction, or one through blocks of `block` elements and one inside of them; no loop where there is one
    // element. Precondition: the block divides the extent.
    NestIndex reduce(int64_t extent, int64_t block = 1);

    // Reads operand `source`, which lies in memory like `stored`, at one index for each of its logical axes; answers the number
    // of the read. An axis in blocks must be read block by block, or finish() is an error.
    int read(size_t input, const graph::Stored &stored, const std::vector<NestIndex> &indices);
    // Reads one of the numbers of a constant.
    int read_numbers(const std::vector<float> &numbers, const std::vector<int64_t> &shape,
                     const std::vector<NestIndex> &indices);
    int read_integers(const std::vector<int32_t> &numbers, const std::vector<int64_t> &shape,
                      const std::vector<NestIndex> &indices);
    // An index that is an element of input `input`, whole numbers without blocks of an axis.
    NestIndex from_table(size_t input, const graph::Stored &stored, const std::vector<NestIndex> &place);
    // An index that is an element of a table.
    NestIndex from_table(const std::vector<int32_t> &elements, const std::vector<int64_t> &shape,
                         const std::vector<NestIndex> &place);

    bool has_reduction() const { return !made_.nest.over.empty(); }
    int read_count() const { return static_cast<int>(made_.nest.reads.size()); }

    // Adjacent loops that every operand walks through as one become one. An error (unsupported): the nest has too many loops,
    // operands or reads.
    Result<NodeNest> finish(Reduction reduction, scalar::Expression term, scalar::Expression finish = {}) &&;

private:
    int operand(NestSource source, const std::vector<int64_t> &shape, graph::Element type);
    void add_single_loop();

    std::vector<NestIndex> along_;  // of each axis of the result: the index that walks along it
    bool cuts_blocks_ = false;      // a read goes through parts of blocks
    NodeNest made_;
};

NestIndex sum(NestIndex a, const NestIndex &b, int64_t factor = 1);  // a + factor * b
NestIndex constant_index(int64_t index);

}  // namespace kiln::network
