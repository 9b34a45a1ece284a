#include "generators/passes/run_time_masks.h"

#include <map>
#include <string>
#include <utility>

namespace kiln {
namespace {

using namespace Halide;
using namespace Halide::Internal;

class FindVariable : public IRVisitor {
public:
    bool found = false;

private:
    using IRVisitor::visit;
    void visit(const Variable *) override { found = true; }
    void visit(const Load *) override { found = true; }
};

bool is_known_mask(const Expr &value) {
    if (!value.type().is_bool() || value.type().is_scalar() || is_const(value)) return false;
    FindVariable variable;
    value.accept(&variable);
    return !variable.found;
}

// Adds a number to where every vector of neighbours begins.
class MoveRamps : public IRMutator {
public:
    explicit MoveRamps(Expr by) : by_(std::move(by)) {}

private:
    using IRMutator::visit;
    Expr visit(const Ramp *op) override { return Ramp::make(op->base + by_, op->stride, op->lanes); }

    const Expr by_;
};

class MakeMasks : public IRMutator {
    using IRMutator::visit;

    // The bit of an address that no address of a program has set.
    static Expr zero_of(const std::string &buffer) {
        const Expr address = reinterpret<uint64_t>(Variable::make(Handle(), buffer));
        return cast<int32_t>(address >> make_const(UInt(64), 63));
    }

    Stmt visit(const LetStmt *op) override {
        if (!zero_.defined() && op->value.type().is_handle()) {
            const std::string zero = unique_name("zero");
            zero_ = Variable::make(Int(32), zero);
            Stmt body = mutate(op->body);
            for (const auto &[mask, name] : masks_) {
                body = LetStmt::make(name, MoveRamps(zero_).mutate(mask), body);
            }
            return LetStmt::make(op->name, op->value, LetStmt::make(zero, zero_of(op->name), body));
        }
        if (!is_known_mask(op->value)) return IRMutator::visit(op);
        return mutate(substitute(op->name, op->value, op->body));
    }

    Expr hidden(const Expr &mask) {
        if (!zero_.defined() || !is_known_mask(mask)) return mutate(mask);
        auto [at, is_new] = masks_.try_emplace(mask);
        if (is_new) at->second = unique_name("mask");
        return Variable::make(mask.type(), at->second);
    }

    Expr visit(const Let *op) override {
        if (!is_known_mask(op->value)) return IRMutator::visit(op);
        return mutate(substitute(op->name, op->value, op->body));
    }

    Expr visit(const Select *op) override {
        return Select::make(hidden(op->condition), mutate(op->true_value), mutate(op->false_value));
    }

    Expr visit(const Load *op) override {
        return Load::make(op->type, op->name, mutate(op->index), op->image, op->param, hidden(op->predicate),
                          op->alignment);
    }

    Expr zero_;
    std::map<Expr, std::string, IRDeepCompare> masks_;
};

}  // namespace

void make_masks_at_run_time(Pipeline &pipeline) { pipeline.add_custom_lowering_pass(new MakeMasks); }

}  // namespace kiln
