#include "generators/passes/line_fetch.h"

namespace kiln {

using namespace Halide;
using namespace Halide::Internal;

void Loads::visit(const Load *op) {
    IRVisitor::visit(op);
    const auto *lanes = op->index.as<Ramp>();
    const bool is_vector = lanes && is_const_one(lanes->stride), is_single = op->index.type().is_scalar();
    if (op->name != buffer_ || !(is_vector || (is_single && kind_ == of_any_kind))) return;
    Expr place = is_vector ? lanes->base : op->index;
    for (size_t i = bound_.size(); i-- > 0;) place = substitute(bound_[i].first, bound_[i].second, place);
    places.push_back(place);
    element = op->type.element_of();
}

bool FetchedLines::is_new(const Expr &place, const Type &element) {
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

// LLVM's own intrinsic, by its name: to be read or written, the locality, data.
Stmt fetch_line(const std::string &buffer, const Expr &place, Access access, Locality locality) {
    const Expr start = reinterpret<uint64_t>(Variable::make(Handle(), buffer));
    const Expr address = reinterpret(Handle(), start + cast<uint64_t>(place));
    const Expr is_written = access == Access::written ? 1 : 0;
    return Evaluate::make(
        Call::make(Int(32), "llvm.prefetch.p0", {address, is_written, static_cast<int>(locality), 1}, Call::Extern));
}

}  // namespace kiln
