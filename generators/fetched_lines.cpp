#include "generators/fetched_lines.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace kiln {
namespace {

using namespace Halide;
using namespace Halide::Internal;

// The places that an expression loads whole vectors of a buffer from.
class VectorLoads : public IRVisitor {
public:
    explicit VectorLoads(const std::string &buffer) : buffer_(buffer) {}

    std::vector<Expr> places;  // elements
    Type element;

protected:
    using IRVisitor::visit;

    void visit(const Load *op) override {
        IRVisitor::visit(op);
        const auto *lanes = op->index.as<Ramp>();
        if (op->name != buffer_ || !lanes || !is_const_one(lanes->stride)) return;
        Expr place = lanes->base;
        for (size_t i = bound_.size(); i-- > 0;) place = substitute(bound_[i].first, bound_[i].second, place);
        places.push_back(place);
        element = op->type.element_of();
    }
    void visit(const Let *op) override { visit_let(op); }
    void visit(const LetStmt *op) override { visit_let(op); }

private:
    template<typename Let>
    void visit_let(const Let *op) {
        op->value.accept(this);
        bound_.emplace_back(op->name, op->value);
        op->body.accept(this);
        bound_.pop_back();
    }

    const std::string &buffer_;
    std::vector<std::pair<std::string, Expr>> bound_;
};

struct Fetch {
    std::string buffer;
    int64_t bytes_ahead;
    Access access;
};

// Which caches a line comes into, as LLVM numbers them.
enum class Locality { l2 = 2, l1 = 3 };

// LLVM's own intrinsic, by its name: to be read or written, the locality, data.
Stmt fetch(const Fetch &f, const Expr &place, const Type &element, Locality locality) {
    const Expr start = reinterpret<uint64_t>(Variable::make(Handle(), f.buffer));
    const Expr bytes = cast<int64_t>(place) * element.bytes() + Expr(f.bytes_ahead);
    const Expr address = reinterpret(Handle(), start + cast<uint64_t>(bytes));
    const Expr is_written = f.access == Access::written ? 1 : 0;
    return Evaluate::make(
        Call::make(Int(32), "llvm.prefetch.p0", {address, is_written, static_cast<int>(locality), 1}, Call::Extern));
}

// Halide's own prefetches, which are of an element's line in loops over lines.
class FetchIntoCaches : public IRMutator {
    using IRMutator::visit;

    Stmt visit(const Evaluate *op) override {
        const Call *call = op->value.as<Call>();
        if (!call || !call->is_intrinsic(Call::prefetch)) return IRMutator::visit(op);
        const auto *memory = call->args[0].as<Variable>();
        if (!memory) return op;
        return fetch({memory->name, 0, Access::read}, call->args[1], call->type, Locality::l1);
    }
};

constexpr int64_t line_bytes = 64;

// Lines that are fetched already, by the element that was asked for.
class FetchedLines {
public:
    // A body that is unrolled has thousands of places: each is looked up by its constant part.
    bool is_new(const Expr &place, const Type &element) {
        const int64_t line = line_bytes / element.bytes();
        Expr rest = simplify(place);
        int64_t offset = 0;
        if (const auto whole = as_const_int(rest)) {
            offset = *whole, rest = 0;
        } else if (const Add *sum = rest.as<Add>()) {
            if (const auto constant = as_const_int(sum->b)) offset = *constant, rest = sum->a;
        }
        std::set<int64_t> &offsets = fetched_[rest];
        const auto next = offsets.lower_bound(offset - line + 1);
        if (next != offsets.end() && *next < offset + line) return false;
        offsets.insert(offset);
        return true;
    }

private:
    std::map<Expr, std::set<int64_t>, IRDeepCompare> fetched_;
};

class FetchAhead : public IRMutator {
public:
    explicit FetchAhead(Fetch what) : what_(std::move(what)) {}

private:
    using IRMutator::visit;

    // A loop fetches each line once.
    Stmt visit(const For *op) override {
        FetchedLines outside;
        std::swap(outside, fetched_);
        depth_++;
        Stmt loop = IRMutator::visit(op);
        depth_--;
        std::swap(outside, fetched_);
        return loop;
    }

    Stmt visit(const Store *op) override {
        Stmt store = op;
        if (depth_ == 0) return store;
        if (what_.access == Access::written) {
            const auto *lanes = op->index.as<Ramp>();
            if (op->name != what_.buffer || !lanes || !is_const_one(lanes->stride)) return store;
            return after_fetch(store, lanes->base, op->value.type().element_of());
        }
        VectorLoads loads(what_.buffer);
        op->value.accept(&loads);
        for (const Expr &place : loads.places) store = after_fetch(store, place, loads.element);
        return store;
    }

    Stmt after_fetch(const Stmt &store, const Expr &place, const Type &element) {
        if (!fetched_.is_new(place, element)) return store;
        return Block::make(fetch(what_, place, element, Locality::l2), store);
    }

    const Fetch what_;
    FetchedLines fetched_;  // by the innermost loop
    int depth_ = 0;
};

// What a loop's body loads after the first loop inside of it, but not in one.
class LoadsBehindLoops : public VectorLoads {
public:
    using VectorLoads::VectorLoads;

private:
    using VectorLoads::visit;

    void visit(const For *) override { has_loop_ = true; }

    void visit(const Load *op) override {
        if (has_loop_) VectorLoads::visit(op);
    }

    bool has_loop_ = false;
};

class FetchBeforeLoops : public IRMutator {
public:
    explicit FetchBeforeLoops(std::string buffer) : buffer_(std::move(buffer)) {}

private:
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        Stmt body = mutate(op->body);
        LoadsBehindLoops loads(buffer_);
        body.accept(&loads);
        FetchedLines fetched;
        for (const Expr &place : loads.places) {
            if (!fetched.is_new(place, loads.element)) continue;
            body = Block::make(fetch({buffer_, 0, Access::read}, place, loads.element, Locality::l1), body);
        }
        return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, body);
    }

    const std::string buffer_;
};

}  // namespace

void fetch_ahead(Pipeline &pipeline, const std::string &buffer, int64_t bytes_ahead, Access access) {
    pipeline.add_custom_lowering_pass(new FetchAhead({buffer, bytes_ahead, access}));
}

void fetch_before_loops(Pipeline &pipeline, const std::string &buffer) {
    pipeline.add_custom_lowering_pass(new FetchBeforeLoops(buffer));
}

void fetch_into_caches(Pipeline &pipeline) { pipeline.add_custom_lowering_pass(new FetchIntoCaches()); }

}  // namespace kiln
