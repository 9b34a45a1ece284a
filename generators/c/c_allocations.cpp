#include "generators/c/c_allocations.h"

#include "generators/c/c_source.h"

namespace kiln {

using namespace Halide;
using namespace Halide::Internal;

namespace {

constexpr int64_t most_variables = 64, most_stack_bytes = 128;

class IndexFinder : public IRVisitor {
public:
    std::set<std::string> constant, other;

private:
    using IRVisitor::visit;
    void note(const std::string &buffer, const Expr &index) { (as_const_int(index) ? constant : other).insert(buffer); }
    void visit(const Load *op) override {
        note(op->name, op->index);
        IRVisitor::visit(op);
    }
    void visit(const Store *op) override {
        note(op->name, op->index);
        IRVisitor::visit(op);
    }
};

}  // namespace

std::set<std::string> buffers_with_constant_indices(const Stmt &body) {
    IndexFinder finder;
    body.accept(&finder);
    for (const std::string &name : finder.other) finder.constant.erase(name);
    return finder.constant;
}

StoredAllocation storage_of(const Allocate &allocation, const Scope<Interval> &variables, bool has_constant_indices) {
    if (!is_const_one(allocation.condition) || allocation.new_expr.defined())
        throw NoCForm{"an allocation on a condition"};
    StoredAllocation stored;
    stored.elements = 1;
    for (const Expr &extent : allocation.extents) {
        const Expr most = find_constant_bound(extent, Direction::Upper, variables);
        const auto size = most.defined() ? as_const_int(most) : std::nullopt;
        if (!size) throw NoCForm{"an allocation whose size is not known when compiling"};
        stored.elements *= *size;
    }
    stored.elements += allocation.padding;
    stored.bytes = stored.elements * allocation.type.bytes();
    if (has_constant_indices && stored.elements <= most_variables) return stored;
    const bool wanted = allocation.memory_type == MemoryType::Stack || allocation.memory_type == MemoryType::Register;
    stored.storage = wanted || stored.bytes <= most_stack_bytes ? Storage::stack : Storage::workspace;
    return stored;
}

}  // namespace kiln
