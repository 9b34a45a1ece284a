#include "graph/memory/placement.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

namespace kiln::graph {
namespace {

bool meet(const Buffer &a, const Buffer &b) { return a.first <= b.last && b.first <= a.last; }

// Best fit: each buffer, in this order, goes into the smallest gap that takes it between those it meets, or above them.
Placement best_fit(const std::vector<Buffer> &buffers, const std::vector<int> &order) {
    Placement result{std::vector<int64_t>(buffers.size(), 0), 0};
    std::vector<int> placed;  // by offset
    for (int index : order) {
        const int64_t bytes = aligned(buffers[index].bytes);
        int64_t end = 0, offset = -1, smallest_gap = 0;
        for (int other : placed) {
            if (!meet(buffers[index], buffers[other])) continue;
            const int64_t gap = result.offsets[other] - end;
            if (gap >= bytes && (offset < 0 || gap < smallest_gap)) offset = end, smallest_gap = gap;
            end = std::max(end, result.offsets[other] + aligned(buffers[other].bytes));
        }
        if (offset < 0) offset = end;
        result.offsets[index] = offset;
        result.bytes = std::max(result.bytes, offset + bytes);
        const auto lies_before = [&](int a, int b) { return result.offsets[a] < result.offsets[b]; };
        placed.insert(std::ranges::upper_bound(placed, index, lies_before), index);
    }
    return result;
}

std::vector<int> sorted(const std::vector<Buffer> &buffers, const std::function<double(const Buffer &)> &key) {
    std::vector<int> order(buffers.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater<>(), [&](int index) { return key(buffers[index]); });
    return order;
}

// The buffer that reaches to the end comes earlier next time, so that it finds a place below.
void hurry_highest(const std::vector<Buffer> &buffers, const Placement &placement, std::vector<int> *order) {
    for (size_t i = 0; i < order->size(); i++) {
        const int index = (*order)[i];
        if (placement.offsets[index] + aligned(buffers[index].bytes) < placement.bytes) continue;
        std::rotate(order->begin() + static_cast<std::ptrdiff_t>(i / 2),
                    order->begin() + static_cast<std::ptrdiff_t>(i),
                    order->begin() + static_cast<std::ptrdiff_t>(i) + 1);
        return;
    }
}

// Some holes close only when two buffers change places in the order. The tries become fewer with the buffers, as a fit takes
// the square of their number.
void exchange_pairs(const std::vector<Buffer> &buffers, const std::function<bool(const Placement &)> &is_close,
                    Placement *best, std::vector<int> *best_order) {
    constexpr int64_t most_pairs = 4'000'000;
    const auto count = static_cast<int64_t>(buffers.size());
    std::mt19937 random(0);  // the same plan each time
    for (int64_t tries = most_pairs / (count * count); tries > 0 && !is_close(*best); tries--) {
        std::vector<int> order = *best_order;
        std::swap(order[random() % order.size()], order[random() % order.size()]);
        Placement placement = best_fit(buffers, order);
        if (placement.bytes <= best->bytes) *best = std::move(placement), *best_order = std::move(order);
    }
}

}  // namespace

Placement place(const std::vector<Buffer> &buffers, int64_t lower_bound) {
    const auto steps = [](const Buffer &b) { return static_cast<double>(b.last - b.first + 1); };
    const auto bytes = [](const Buffer &b) { return static_cast<double>(b.bytes); };
    const std::function<double(const Buffer &)> keys[] = {
        bytes,
        [&](const Buffer &b) { return bytes(b) * steps(b); },
        [&](const Buffer &b) { return steps(b); },
        [](const Buffer &b) { return -static_cast<double>(b.first); },
    };
    constexpr double close_enough = 1.02;
    const auto is_close = [&](const Placement &placement) {
        return static_cast<double>(placement.bytes) <= close_enough * static_cast<double>(lower_bound);
    };
    // Of each order. One takes as many steps as there are pairs.
    constexpr int64_t most_pairs = 400'000'000, most_tries = 50;
    const auto count = std::max<int64_t>(static_cast<int64_t>(buffers.size()), 1);
    const int64_t tries = std::clamp<int64_t>(most_pairs / (count * count), 1, most_tries);
    std::vector<int> best_order;
    Placement best;
    best.bytes = -1;
    for (const auto &key : keys) {
        std::vector<int> order = sorted(buffers, key);
        for (int64_t i = 0; i < tries; i++) {
            Placement placement = best_fit(buffers, order);
            if (best.bytes < 0 || placement.bytes < best.bytes) best = placement, best_order = order;
            if (is_close(best)) return best;
            hurry_highest(buffers, placement, &order);
        }
    }
    exchange_pairs(buffers, is_close, &best, &best_order);
    return best;
}

}  // namespace kiln::graph
