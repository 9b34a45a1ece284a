#include "generators/passes/looked_up_bytes.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace kiln {
namespace {

using namespace Halide;
using namespace Halide::Internal;

// result[written + i] = table[indices[read + i]] for i < count
struct LookedUp {
    std::string table, indices, result;
    Expr read, written;  // elements
    Expr count;
};

// Where a vector of neighbours begins.
Expr first_of(const Expr &index) {
    const auto *ramp = index.as<Ramp>();
    return ramp && is_const_one(ramp->stride) && ramp->base.type().is_scalar() ? ramp->base : Expr();
}

// Functions read all elements, whichever are looked up.
bool has_all_elements(const Parameter &table) {
    constexpr int64_t all = 256;
    if (!table.defined() || table.dimensions() != 1 || !table.extent_constraint(0).defined()) return false;
    return as_const_int(simplify(table.extent_constraint(0))) == all;
}

std::optional<LookedUp> looked_up(const Store &store) {
    const auto *found = store.value.as<Load>();
    const Expr written = first_of(store.index);
    if (!found || !written.defined() || found->type.bits() != 8 || !is_const_one(store.predicate) ||
        !is_const_one(found->predicate))
        return std::nullopt;
    if (!has_all_elements(found->param)) return std::nullopt;
    const auto *widened = found->index.as<Cast>();
    const auto *index = widened ? widened->value.as<Load>() : nullptr;
    const Expr read = index && is_const_one(index->predicate) ? first_of(index->index) : Expr();
    if (!read.defined() || index->type.element_of() != UInt(8)) return std::nullopt;
    return LookedUp{found->name, index->name, store.name, read, written, store.index.type().lanes()};
}

std::optional<int64_t> distance(const Expr &from, const Expr &to) { return as_const_int(simplify(to - from)); }

// The distance between what both read and write, where it is the same and leaves no gap behind the first.
std::optional<int64_t> neighbours(const LookedUp &first, const LookedUp &next) {
    if (first.table != next.table || first.indices != next.indices || first.result != next.result) return std::nullopt;
    const auto read = distance(first.read, next.read), written = distance(first.written, next.written);
    const auto count = as_const_int(first.count);
    const bool follow = read && written && count && *read == *written && *read >= 0 && *read <= *count;
    return follow ? read : std::nullopt;
}

LookedUp in_terms_of(const LookedUp &l, const std::string &name, const Expr &value) {
    LookedUp substituted = l;
    substituted.read = substitute(name, value, l.read);
    substituted.written = substitute(name, value, l.written);
    return substituted;
}

class LookUpBytes : public IRMutator {
public:
    explicit LookUpBytes(std::string function) : function_(std::move(function)) {}

    using IRMutator::mutate;
    Stmt mutate(const Stmt &s) override {
        if (const auto all = whole(s)) return call(*all);
        return IRMutator::mutate(s);
    }

private:
    using IRMutator::visit;

    // What a statement looks up, if it does nothing else.
    static std::optional<LookedUp> whole(const Stmt &s) {
        if (const auto *store = s.as<Store>()) return looked_up(*store);
        if (const auto *let = s.as<LetStmt>()) {
            const auto body = whole(let->body);
            return body ? std::optional(in_terms_of(*body, let->name, let->value)) : std::nullopt;
        }
        if (const auto *block = s.as<Block>()) {
            std::vector<LookedUp> parts;
            if (!append_parts(block, &parts)) return std::nullopt;
            parts = joined(std::move(parts));
            return parts.size() == 1 ? std::optional(parts.front()) : std::nullopt;
        }
        const auto *loop = s.as<For>();
        return loop && loop->for_type == ForType::Serial ? all_iterations(*loop) : std::nullopt;
    }

    static bool append_parts(const Block *block, std::vector<LookedUp> *parts) {
        for (const Stmt &s : {block->first, block->rest}) {
            const auto *inner = s.as<Block>();
            if (inner) {
                if (!append_parts(inner, parts)) return false;
                continue;
            }
            const auto part = whole(s);
            if (!part) return false;
            parts->push_back(*part);
        }
        return true;
    }

    static std::vector<LookedUp> joined(std::vector<LookedUp> parts) {
        std::vector<LookedUp> all;
        for (LookedUp &part : parts) {
            const auto at = all.empty() ? std::nullopt : neighbours(all.back(), part);
            const auto count = at ? as_const_int(part.count) : std::nullopt;
            if (count) {
                LookedUp &last = all.back();
                last.count = make_const(Int(32), std::max(*as_const_int(last.count), *at + *count));
            } else {
                all.push_back(std::move(part));
            }
        }
        return all;
    }

    static std::optional<LookedUp> all_iterations(const For &loop) {
        const auto body = whole(loop.body);
        const auto extent = as_const_int(loop.extent);
        if (!body || !extent || expr_uses_var(body->count, loop.name)) return std::nullopt;
        const Expr variable = Variable::make(Int(32), loop.name);
        const auto step = neighbours(*body, in_terms_of(*body, loop.name, variable + 1));
        if (!step) return std::nullopt;
        LookedUp all = in_terms_of(*body, loop.name, loop.min);
        all.count = make_const(Int(32), *step * (*extent - 1) + *as_const_int(body->count));
        return all;
    }

    Stmt visit(const Block *op) override {
        std::vector<Stmt> done;
        std::vector<LookedUp> parts;
        const auto add_calls = [&] {
            for (const LookedUp &part : joined(std::exchange(parts, {}))) done.push_back(call(part));
        };
        for (Stmt rest = op; rest.defined();) {
            const auto *block = rest.as<Block>();
            const Stmt first = block ? block->first : rest;
            if (const auto part = whole(first)) {
                parts.push_back(*part);
            } else {
                add_calls();
                done.push_back(IRMutator::mutate(first));
            }
            rest = block ? block->rest : Stmt();
        }
        add_calls();
        return Block::make(done);
    }

    Stmt call(const LookedUp &l) const {
        const auto at = [](const std::string &buffer, const Expr &place) {
            const Expr start = reinterpret<uint64_t>(Variable::make(Handle(), buffer));
            return reinterpret(Handle(), start + cast<uint64_t>(place));
        };
        return Evaluate::make(Call::make(
            Int(32), function_,
            {at(l.table, 0), at(l.indices, l.read), at(l.result, l.written), cast<int64_t>(l.count), 0}, Call::Extern));
    }

    const std::string function_;
};

}  // namespace

void look_up_bytes(Pipeline &pipeline, const std::string &function) {
    pipeline.add_custom_lowering_pass(new LookUpBytes(function));
}

}  // namespace kiln
