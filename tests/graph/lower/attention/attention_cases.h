// Attention in plain loops.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {

// Batch x heads x places x features.
struct HeadBlock {
    Shape shape;
    std::vector<double> elements;

    double at(int64_t b, int64_t h, int64_t place, int64_t feature) const {
        return elements[static_cast<size_t>(((b * shape[1] + h) * shape[2] + place) * shape[3] + feature)];
    }
    Numbers heads() const { return floats(shape, elements); }

    // Batch x places x heads * features.
    Numbers joined() const {
        std::vector<double> list;
        for (int64_t b = 0; b < shape[0]; b++) {
            for (int64_t place = 0; place < shape[2]; place++) {
                for (int64_t h = 0; h < shape[1]; h++) {
                    for (int64_t f = 0; f < shape[3]; f++) list.push_back(at(b, h, place, f));
                }
            }
        }
        return floats({shape[0], shape[2], shape[1] * shape[3]}, list);
    }
};

// Numbers that f32 has, from -0.8 to 0.8.
inline HeadBlock block_of(Shape shape, int64_t seed) {
    HeadBlock block{shape, {}};
    for (int64_t i = 0; i < *element_count(shape); i++)
        block.elements.push_back(static_cast<double>((i * 37 + seed * 11) % 101 - 50) / 64);
    return block;
}

inline HeadBlock behind(const HeadBlock &first, const HeadBlock &second) {
    HeadBlock all{first.shape, {}};
    all.shape[2] += second.shape[2];
    for (int64_t b = 0; b < all.shape[0]; b++) {
        for (int64_t h = 0; h < all.shape[1]; h++) {
            for (const HeadBlock *part : {&first, &second}) {
                for (int64_t place = 0; place < part->shape[2]; place++) {
                    for (int64_t f = 0; f < all.shape[3]; f++) all.elements.push_back(part->at(b, h, place, f));
                }
            }
        }
    }
    return all;
}

struct AttentionCase {
    int64_t opset = 23;
    int64_t batch = 2, heads = 2, kv_heads = 2, queries = 3, keys = 4, features = 4, value_features = 3, past = 0;
    bool has_three_axes = false;
    std::optional<double> scale = {};
    double softcap = 0;
    bool is_causal = false;
    int64_t left = -1, right = -1, mode = 0;
    std::optional<Numbers> mask = {};
    std::vector<int64_t> lengths = {};
    size_t network_inputs = 3;

    HeadBlock q() const { return block_of({batch, heads, queries, features}, 1); }
    HeadBlock k() const { return block_of({batch, kv_heads, keys, features}, 2); }
    HeadBlock v() const { return block_of({batch, kv_heads, keys, value_features}, 3); }
    HeadBlock past_k() const { return block_of({batch, kv_heads, past, features}, 4); }
    HeadBlock past_v() const { return block_of({batch, kv_heads, past, value_features}, 5); }

    // -infinity where a mask leaves out a key, what it adds elsewhere.
    double bias(int64_t b, int64_t h, int64_t i, int64_t j) const {
        const int64_t before = lengths.empty() ? past : lengths[static_cast<size_t>(b)] - queries, place = before + i;
        if (!lengths.empty() && j >= lengths[static_cast<size_t>(b)]) return -infinity;
        if (is_causal && j > place) return -infinity;
        if (left >= 0 && j < place - left) return -infinity;
        if (right >= 0 && j > place + right) return -infinity;
        return mask ? of_mask({b, h, i, j}) : 0;
    }

    double of_mask(const Shape &index) const {
        const Shape &shape = mask->form.shape;
        if (opset >= 24 && index[3] >= shape.back()) return -infinity;
        size_t at = 0;
        for (size_t d = 0; d < shape.size(); d++) {
            const int64_t along = shape[d] == 1 ? 0 : index[4 - shape.size() + d];
            at = at * static_cast<size_t>(shape[d]) + static_cast<size_t>(along);
        }
        if (mask->elements.index() == 1) return std::get<1>(mask->elements)[at] != 0 ? 0 : -infinity;
        return std::get<0>(mask->elements)[at];
    }
};

// The output, and what the mode shows.
struct AttentionNumbers {
    HeadBlock output, shown;
};

inline AttentionNumbers attended_by_loops(const AttentionCase &c) {
    const HeadBlock q = c.q(), k = c.past ? behind(c.past_k(), c.k()) : c.k(),
                    v = c.past ? behind(c.past_v(), c.v()) : c.v();
    const double scale = c.scale.value_or(1 / std::sqrt(static_cast<double>(c.features)));
    const int64_t group = c.heads / c.kv_heads, keys = c.past + c.keys;
    AttentionNumbers result{{{c.batch, c.heads, c.queries, c.value_features}, {}},
                            {{c.batch, c.heads, c.queries, keys}, {}}};
    for (int64_t row = 0; row < c.batch * c.heads * c.queries; row++) {
        const int64_t b = row / c.queries / c.heads, h = row / c.queries % c.heads, i = row % c.queries;
        std::vector<double> weights;
        double sum = 0;
        for (int64_t j = 0; j < keys; j++) {
            double product = 0;
            for (int64_t f = 0; f < c.features; f++) product += q.at(b, h, i, f) * k.at(b, h / group, j, f) * scale;
            const double capped = c.softcap > 0 ? std::tanh(product / c.softcap) * c.softcap : product;
            const double masked = capped + c.bias(b, h, i, j);
            weights.push_back(std::exp(masked));
            sum += weights.back();
            if (c.mode < 3) result.shown.elements.push_back(c.mode == 0 ? product : c.mode == 1 ? capped : masked);
        }
        for (double &weight : weights) weight = sum > 0 ? weight / sum : 0;
        if (c.mode == 3) result.shown.elements.insert(result.shown.elements.end(), weights.begin(), weights.end());
        for (int64_t f = 0; f < c.value_features; f++) {
            double y = 0;
            for (int64_t j = 0; j < keys; j++) y += weights[static_cast<size_t>(j)] * v.at(b, h / group, j, f);
            result.output.elements.push_back(y);
        }
    }
    return result;
}

}  // namespace kiln::graph
