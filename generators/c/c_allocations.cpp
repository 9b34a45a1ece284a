#include "generators/c/c_allocations.h"

#include <utility>

#include "generators/c/c_source.h"

namespace kiln {

using namespace Halide;
using namespace Halide::Internal;

namespace {

constexpr int64_t most_variables = 64, most_stack_bytes = 128;

class IndexFinder : public IRVisitor {
public:
    explicit IndexFinder(const std::string &buffer) : buffer_(buffer) {}
    bool all_are_numbers = true;
    std::set<int64_t> loaded;

private:
    using IRVisitor::visit;
    void visit(const Load *op) override {
        if (op->name == buffer_) {
            const auto index = as_const_int(op->index);
            if (index) loaded.insert(*index);
            all_are_numbers = all_are_numbers && index;
        }
        IRVisitor::visit(op);
    }
    void visit(const Store *op) override {
        if (op->name == buffer_ && !as_const_int(op->index)) all_are_numbers = false;
        IRVisitor::visit(op);
    }

    const std::string &buffer_;
};

}  // namespace

StoredAllocation storage_of(const Allocate &allocation, const Bounds &variables, const Bounds &layer) {
    if (!is_const_one(allocation.condition) || allocation.new_expr.defined())
        throw NoCForm{"an allocation on a condition"};
    StoredAllocation stored;
    stored.elements = 1;
    for (const Expr &extent : allocation.extents) {
        const auto most = [&](const Bounds &bounds) {
            const Expr bound = find_constant_bound(extent, Direction::Upper, bounds);
            return bound.defined() ? as_const_int(bound) : std::nullopt;
        };
        auto size = most(variables);
        stored.is_sized = stored.is_sized || !size;
        if (!size) size = most(layer);
        if (!size) throw NoCForm{"an allocation whose size is not known when compiling"};
        stored.elements *= *size;
    }
    stored.elements += allocation.padding;
    stored.bytes = stored.elements * allocation.type.bytes();
    if (stored.is_sized) {
        stored.storage = Storage::workspace;
        return stored;
    }
    // Of this allocation alone: another one of the same name may have other loops around it.
    IndexFinder finder(allocation.name);
    allocation.body.accept(&finder);
    stored.loaded = std::move(finder.loaded);
    if (stored.elements <= most_variables && finder.all_are_numbers) return stored;
    const bool wanted = allocation.memory_type == MemoryType::Stack || allocation.memory_type == MemoryType::Register;
    stored.storage = wanted || stored.bytes <= most_stack_bytes ? Storage::stack : Storage::workspace;
    return stored;
}

}  // namespace kiln
