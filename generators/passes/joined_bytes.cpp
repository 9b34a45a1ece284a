#include "generators/passes/joined_bytes.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kiln {
namespace {

using namespace Halide;
using namespace Halide::Internal;

constexpr int joined = 4;  // bytes of a number

// A store of numbers of 32 bits as bytes, to which the same byte may be added.
struct NarrowedStore {
    const Store *store = nullptr;
    Expr first, numbers, added;
    int lanes = 0;
};

class ReadsBuffer : public IRVisitor {
public:
    explicit ReadsBuffer(const std::string &name) : name_(name) {}
    bool found = false;

private:
    using IRVisitor::visit;
    void visit(const Load *op) override {
        found = found || op->name == name_;
        IRVisitor::visit(op);
    }
    const std::string &name_;
};

bool reads(const Expr &value, const std::string &buffer) {
    ReadsBuffer reads(buffer);
    value.accept(&reads);
    return reads.found;
}

std::optional<NarrowedStore> narrowed_store(const Stmt &s) {
    const auto *store = s.as<Store>();
    const auto *place = store ? store->index.as<Ramp>() : nullptr;
    if (!place || !is_const_one(place->stride) || !is_const_one(store->predicate)) return std::nullopt;
    NarrowedStore narrowed{.store = store, .first = place->base, .lanes = place->lanes};
    Expr value = store->value;
    if (const auto *sum = value.as<Add>()) {
        const auto *same = sum->b.as<Broadcast>();
        if (!same) return std::nullopt;
        narrowed.added = same->value;
        value = sum->a;
    }
    const auto *cast = value.as<Cast>();
    if (!cast || cast->type.bits() != 8 || cast->value.type().bits() != 32 || cast->value.type().is_float())
        return std::nullopt;
    narrowed.numbers = cast->value;
    return reads(cast->value, store->name) ? std::nullopt : std::optional(narrowed);
}

bool add_the_same(const Expr &a, const Expr &b) { return a.defined() == b.defined() && (!a.defined() || equal(a, b)); }

bool can_be_joined(const NarrowedStore &a, const NarrowedStore &b) {
    return a.store->name == b.store->name && a.lanes == b.lanes && a.store->value.type() == b.store->value.type() &&
           add_the_same(a.added, b.added);
}

// Each number's lowest byte, in the lanes of its vector: byte `i` of a lane is that of `numbers[i]`.
Expr bytes_by_funnels(const std::vector<Expr> &numbers) {
    const Expr place = make_const(numbers[0].type(), 24), width = make_const(numbers[0].type(), 8);
    Expr bytes = numbers[0] << place;
    for (size_t i = 1; i < numbers.size(); i++) bytes = (bytes >> width) | (numbers[i] << place);
    return bytes;
}

Expr bytes_by_masks(const std::vector<Expr> &numbers) {
    const Type type = numbers[0].type();
    Expr bytes = numbers[0];
    for (size_t i = 1; i < numbers.size(); i++) {
        const Expr below = make_const(type, (int64_t{1} << (8 * i)) - 1);
        bytes = (bytes & below) | ((numbers[i] << make_const(type, static_cast<int64_t>(8 * i))) & ~below);
    }
    return bytes;
}

class JoinStores : public IRMutator {
public:
    explicit JoinStores(JoinBytes how) : how_(how) {}

private:
    using IRMutator::visit;

    Stmt visit(const Block *op) override {
        std::vector<Stmt> statements;
        for (Stmt rest = op; rest.defined();) {
            const auto *block = rest.as<Block>();
            statements.push_back(block ? block->first : rest);
            rest = block ? block->rest : Stmt();
        }
        std::vector<Stmt> done;
        for (size_t i = 0; i < statements.size();) {
            const std::vector<NarrowedStore> stores = stores_from(statements, i);
            if (stores.empty()) {
                done.push_back(mutate(statements[i++]));
            } else {
                for (Stmt &s : joined_stores(stores)) done.push_back(std::move(s));
                i += stores.size();
            }
        }
        return Block::make(done);
    }

    // As many as are joined, or none.
    static std::vector<NarrowedStore> stores_from(const std::vector<Stmt> &statements, size_t begin) {
        std::vector<NarrowedStore> stores;
        for (size_t i = begin; i < statements.size() && stores.size() < joined; i++) {
            const auto narrowed = narrowed_store(statements[i]);
            if (!narrowed || (!stores.empty() && !can_be_joined(stores.front(), *narrowed))) return {};
            stores.push_back(*narrowed);
        }
        return stores.size() == joined ? stores : std::vector<NarrowedStore>();
    }

    Expr joined_value(const std::vector<NarrowedStore> &stores) const {
        const Type type = stores.front().store->value.type();
        const int lanes = stores.front().lanes, all = lanes * joined;
        std::vector<Expr> numbers;
        for (const NarrowedStore &store : stores) numbers.push_back(store.numbers);
        Expr bytes;
        if (how_ == JoinBytes::narrow) {
            bytes = Cast::make(type.with_lanes(all), Shuffle::make_concat(numbers));
        } else {
            const Type bits = UInt(32, lanes);
            for (Expr &n : numbers) n = n.type() == bits ? n : reinterpret(bits, n);
            const Expr in_lanes = how_ == JoinBytes::by_funnels ? bytes_by_funnels(numbers) : bytes_by_masks(numbers);
            std::vector<int> places;
            for (int vector = 0; vector < joined; vector++) {
                for (int lane = 0; lane < lanes; lane++) places.push_back(lane * joined + vector);
            }
            bytes = Shuffle::make({reinterpret(type.with_lanes(all), in_lanes)}, places);
        }
        const Expr &added = stores.front().added;
        return added.defined() ? bytes + Broadcast::make(added, all) : bytes;
    }

    std::vector<Stmt> joined_stores(const std::vector<NarrowedStore> &stores) const {
        const Expr value = joined_value(stores);
        const std::string name = unique_name('t');
        const Expr bytes = Variable::make(value.type(), name);
        const int lanes = stores.front().lanes;
        std::vector<Stmt> parts;
        for (size_t begin = 0; begin < stores.size();) {
            const size_t count = neighbours_from(stores, begin);
            const Store *store = stores[begin].store;
            const int wide = lanes * static_cast<int>(count);
            const Expr part =
                count == stores.size() ? bytes : Shuffle::make_slice(bytes, lanes * static_cast<int>(begin), 1, wide);
            parts.push_back(Store::make(store->name, part, Ramp::make(stores[begin].first, 1, wide), store->param,
                                        const_true(wide), store->alignment));
            begin += count;
        }
        return {LetStmt::make(name, value, Block::make(parts))};
    }

    // Four, two or one: how many vectors lie behind each other in memory.
    static size_t neighbours_from(const std::vector<NarrowedStore> &stores, size_t begin) {
        size_t count = 1;
        while (begin + count < stores.size() && follow(stores[begin + count - 1], stores[begin + count])) count++;
        while (begin % count != 0 || stores.size() % count != 0) count--;
        return count;
    }

    static bool follow(const NarrowedStore &a, const NarrowedStore &b) {
        const auto distance = as_const_int(simplify(b.first - a.first));
        return distance && *distance == a.lanes;
    }

    const JoinBytes how_;
};

}  // namespace

void join_bytes(Pipeline &pipeline, JoinBytes how) { pipeline.add_custom_lowering_pass(new JoinStores(how)); }

}  // namespace kiln
