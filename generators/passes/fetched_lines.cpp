#include "generators/passes/fetched_lines.h"

#include <utility>

namespace kiln {
namespace {

using namespace Halide;
using namespace Halide::Internal;

struct Fetch {
    std::string buffer;
    int64_t bytes_ahead;
    Access access;
};

Stmt fetch(const Fetch &f, const Expr &place, const Type &element, Locality locality) {
    const Expr bytes = cast<int64_t>(place) * element.bytes() + Expr(f.bytes_ahead);
    return fetch_line(f.buffer, bytes, f.access, locality);
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
        Loads loads(what_.buffer);
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
class LoadsBehindLoops : public Loads {
public:
    using Loads::Loads;

private:
    using Loads::visit;

    void visit(const For *) override { has_loop_ = true; }

    void visit(const Load *op) override {
        if (has_loop_) Loads::visit(op);
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
