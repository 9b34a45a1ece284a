// Attention of queries to keys: softmax of their products over the keys, and sums of the values with these weights. ONNX's Attention
// and the operators of onnxruntime share it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// Batch x heads x places x features. Keys and values have the same heads, or one for each group of heads of the queries.
struct Heads {
    ValueId query = 0, key = 0, value = 0;
};

// Batch x places x heads * features as batch x places x heads x features.
ValueId with_axis_of_heads(NodeLowering &node, ValueId x, int64_t heads);

// The same as heads, and the other way.
ValueId split_heads(NodeLowering &node, ValueId x, int64_t heads);
ValueId join_heads(NodeLowering &node, ValueId x);

// With the past keys and values, which are these inputs of the node, in front of its own. A node has both of them or none.
Heads behind_past(NodeLowering &node, const Heads &heads, int past_key, int past_value);

// Rejects heads that do not fit together.
void check_heads(const NodeLowering &node, const Heads &heads);

// The keys that a query attends by their places alone: from `first` on, before `end`. None where `end` is not behind `first`.
struct KeyRange {
    int64_t first = 0, end = 0;
    bool operator==(const KeyRange &) const = default;
};

// Which keys lie in reach of a query.
struct Reach {
    bool is_causal = false;         // none behind the query itself
    int64_t left = -1, right = -1;  // so many before the query and behind it; -1: all
    int64_t past = 0;               // the first query stands at this place of the keys
    // How many keys count, for each of the batch; the last query stands at the last of them. Empty: all.
    std::vector<int64_t> lengths = {};
};

// One range for each query, of each batch; one stands for all queries, or for all of the batch, where they are the same.
struct KeyRanges {
    int64_t batch = 1, queries = 1;
    std::vector<KeyRange> list;  // empty: every query attends every key
};
KeyRanges key_ranges(const Reach &reach, int64_t queries, int64_t keys);

struct AttentionTerms {
    Heads heads;
    double scale = 1;    // of the products
    double softcap = 0;  // where it is positive: softcap * tanh(product / softcap)
    // Broadcast to batch x heads x queries x keys. Of booleans: where it holds, a key is attended; of floats: added to the products.
    std::optional<ValueId> mask = {};
    KeyRanges ranges = {};
    bool has_empty_rows = true;  // whether a query may attend no key, which then gives 0
};

// Batch x heads x queries x keys, but for the output, which has the features of the values.
struct Attended {
    ValueId output = 0;
    ValueId products = 0, capped = 0;   // scaled; behind the softcap
    ValueId masked = 0;                 // -infinity where a key is not attended
    std::optional<ValueId> empty = {};  // whether a query attends no key, where there may be one
    ValueId softmax = 0;                // the weights of keys; any numbers for a query that attends none

    ValueId weights(NodeLowering &node) const;  // the same, but 0 there
};
Attended attend(NodeLowering &node, const AttentionTerms &terms);

}  // namespace kiln::graph
