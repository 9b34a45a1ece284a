#include "generators/fetched_weights.h"

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

private:
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

    void visit(const Let *op) override {
        op->value.accept(this);
        bound_.emplace_back(op->name, op->value);
        op->body.accept(this);
        bound_.pop_back();
    }

    const std::string &buffer_;
    std::vector<std::pair<std::string, Expr>> bound_;
};

// LLVM's own intrinsic, by its name: to be read, of moderate locality (L2), data.
Stmt fetch(const std::string &buffer, const Expr &place, const Type &element, int64_t bytes_ahead) {
    const Expr start = reinterpret<uint64_t>(Variable::make(Handle(), buffer));
    const Expr bytes = cast<int64_t>(place) * element.bytes() + Expr(bytes_ahead);
    const Expr address = reinterpret(Handle(), start + cast<uint64_t>(bytes));
    return Evaluate::make(Call::make(Int(32), "llvm.prefetch.p0", {address, 0, 2, 1}, Call::Extern));
}

constexpr int64_t line_bytes = 64;

class FetchAhead : public IRMutator {
public:
    FetchAhead(std::string buffer, int64_t bytes_ahead) : buffer_(std::move(buffer)), bytes_ahead_(bytes_ahead) {}

private:
    using IRMutator::visit;
    using Lines = std::map<Expr, std::set<int64_t>, IRDeepCompare>;

    // A loop fetches each line once.
    Stmt visit(const For *op) override {
        Lines outside;
        std::swap(outside, fetched_);
        depth_++;
        Stmt loop = IRMutator::visit(op);
        depth_--;
        std::swap(outside, fetched_);
        return loop;
    }

    Stmt visit(const Store *op) override {
        VectorLoads loads(buffer_);
        op->value.accept(&loads);
        Stmt store = op;
        if (depth_ == 0) return store;
        for (const Expr &place : loads.places) {
            if (!is_new(place, line_bytes / loads.element.bytes())) continue;
            store = Block::make(fetch(buffer_, place, loads.element, bytes_ahead_), store);
        }
        return store;
    }

    // A body that is unrolled has thousands of places: each is looked up by its constant part.
    bool is_new(const Expr &place, int64_t line) {
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

    const std::string buffer_;
    const int64_t bytes_ahead_;
    Lines fetched_;  // by the innermost loop
    int depth_ = 0;
};

}  // namespace

void fetch_ahead(Pipeline &pipeline, const std::string &buffer, int64_t bytes_ahead) {
    pipeline.add_custom_lowering_pass(new FetchAhead(buffer, bytes_ahead));
}

}  // namespace kiln
