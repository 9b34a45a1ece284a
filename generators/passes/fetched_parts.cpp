#include "generators/passes/fetched_parts.h"

#include <optional>
#include <utility>
#include <vector>

#include "generators/passes/line_fetch.h"

namespace kiln {
namespace {

using namespace Halide;
using namespace Halide::Internal;

struct Loop {
    std::string name;
    Expr min, extent;
};

// A part of a buffer that a sum's loops read several times, before they go on to the next part.
struct SharedPart {
    std::vector<std::pair<Loop, int64_t>> loops;  // that read one part, the innermost first, and how often each is run
    Loop parts;
    int64_t elements = 0;  // of a part
    int64_t steps = 1;     // of all `loops`
};

// By how much a place moves when a loop goes on, if that is the same everywhere.
std::optional<int64_t> step_of(const Expr &place, const std::string &loop) {
    const Expr at = Variable::make(Int(32), loop);
    return as_const_int(simplify(substitute(loop, at + 1, place) - place));
}

// Parts end where a loop moves on again, outside of one that does not.
std::optional<SharedPart> shared_part(const Expr &place, const std::vector<Loop> &loops) {
    SharedPart shared;
    bool is_shared = false;
    for (size_t i = loops.size(); i-- > 0;) {
        const auto step = step_of(place, loops[i].name);
        if (!step) return std::nullopt;
        if (*step != 0 && is_shared) {
            shared.parts = loops[i];
            shared.elements = *step;
            return shared;
        }
        const auto extent = as_const_int(loops[i].extent);
        if (!extent) return std::nullopt;
        is_shared = is_shared || *step == 0;
        shared.loops.emplace_back(loops[i], *extent);
        shared.steps *= *extent;
    }
    return std::nullopt;
}

int64_t quotient_rounded_up(int64_t dividend, int64_t divisor) { return (dividend + divisor - 1) / divisor; }

// Where the bytes begin that a step asks for. Steps ask for one part in order, each for as many bytes: for less than one where many
// readers share a part, so shares are counted in parts of a byte.
Expr fetched_place(const SharedPart &shared, const Expr &place, int64_t element_bytes) {
    constexpr int fraction_bits = 16;
    const int64_t of_step = quotient_rounded_up((shared.elements * element_bytes) << fraction_bits, shared.steps);
    Expr first = substitute(shared.parts.name, Variable::make(Int(32), shared.parts.name) + 1, place);
    Expr step = make_zero(Int(64));
    int64_t inner = 1;
    for (const auto &[loop, extent] : shared.loops) {
        first = substitute(loop.name, loop.min, first);
        const Expr at = Variable::make(Int(32), loop.name) - loop.min;
        step += cast<int64_t>(at) * Expr(inner * of_step);
        inner *= extent;
    }
    return cast<int64_t>(first) * Expr(element_bytes) + (step >> fraction_bits);
}

class FetchNextPart : public IRMutator {
public:
    explicit FetchNextPart(std::string buffer) : buffer_(std::move(buffer)) {}

private:
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        loops_.push_back({op->name, op->min, op->extent});
        const bool before = std::exchange(is_read_, false);
        Stmt loop = IRMutator::visit(op);
        if (!is_read_) loop = with_fetches(loop.as<For>());
        is_read_ = is_read_ || before;
        loops_.pop_back();
        return loop;
    }

    Stmt visit(const LetStmt *op) override {
        lets_.emplace_back(op->name, op->value);
        Stmt stmt = IRMutator::visit(op);
        lets_.pop_back();
        return stmt;
    }

    Expr without_lets(Expr place) const {
        for (size_t i = lets_.size(); i-- > 0;) place = substitute(lets_[i].first, lets_[i].second, place);
        return place;
    }

    // Of an innermost loop that reads weights.
    Stmt with_fetches(const For *op) {
        Loads loads(buffer_, Loads::of_any_kind);
        op->body.accept(&loads);
        is_read_ = !loads.places.empty();
        if (!is_read_) return op;
        const Expr place = without_lets(loads.places.front());
        const auto shared = shared_part(place, loops_);
        if (!shared) return op;
        const int64_t element_bytes = loads.element.bytes();
        const int64_t lines = quotient_rounded_up(shared->elements * element_bytes, shared->steps * line_bytes);
        const Expr start = fetched_place(*shared, place, element_bytes);
        Stmt body = op->body;
        for (int64_t line = lines; line-- > 0;) {
            body = Block::make(fetch_line(buffer_, start + Expr(line * line_bytes), Access::read, Locality::l2), body);
        }
        return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, body);
    }

    const std::string buffer_;
    std::vector<Loop> loops_;
    std::vector<std::pair<std::string, Expr>> lets_;
    bool is_read_ = false;  // in the body of the loop that is visited
};

}  // namespace

void fetch_next_part(Pipeline &pipeline, const std::string &buffer) {
    pipeline.add_custom_lowering_pass(new FetchNextPart(buffer));
}

}  // namespace kiln
