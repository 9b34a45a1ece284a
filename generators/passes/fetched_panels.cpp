#include "generators/passes/fetched_panels.h"

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

// The loops around a sum: those over its terms, those over tiles that read the same weights, and the one over panels.
struct SharedPanel {
    std::vector<std::pair<Loop, int64_t>> terms;  // and by how many elements each moves on
    std::vector<Loop> tiles;                      // the innermost first
    Loop panels;
    int64_t elements = 0;  // of a panel

    int64_t tile_count() const {
        int64_t count = 1;
        for (const Loop &loop : tiles) count *= *as_const_int(loop.extent);
        return count;
    }
};

// By how much a place moves when a loop goes on, if that is the same everywhere.
std::optional<int64_t> step_of(const Expr &place, const std::string &loop) {
    const Expr at = Variable::make(Int(32), loop);
    return as_const_int(simplify(substitute(loop, at + 1, place) - place));
}

std::optional<SharedPanel> shared_panel(const Expr &place, const std::vector<Loop> &loops) {
    SharedPanel shared;
    for (size_t i = loops.size(); i-- > 0;) {
        const auto step = step_of(place, loops[i].name);
        if (!step) return std::nullopt;
        if (*step == 0) {
            if (!as_const_int(loops[i].extent)) return std::nullopt;
            shared.tiles.push_back(loops[i]);
        } else if (shared.tiles.empty()) {
            shared.terms.emplace_back(loops[i], *step);
        } else {
            shared.panels = loops[i];
            shared.elements = *step;
            return shared;
        }
    }
    return std::nullopt;
}

int64_t share(int64_t bytes, int64_t tiles) { return (bytes + tiles - 1) / tiles; }

// Where the lines of a step of the sum begin, in bytes.
Expr fetched_place(const SharedPanel &shared, const Expr &place, int64_t element_bytes) {
    const int64_t tiles = shared.tile_count();
    Expr first = substitute(shared.panels.name, Variable::make(Int(32), shared.panels.name) + 1, place);
    Expr step = make_zero(Int(64));
    for (const auto &[loop, elements] : shared.terms) {
        first = substitute(loop.name, loop.min, first);
        const Expr at = Variable::make(Int(32), loop.name) - loop.min;
        step += cast<int64_t>(at) * Expr(share(elements * element_bytes, tiles));
    }
    int64_t inner = 1;
    for (const Loop &loop : shared.tiles) {
        const Expr at = Variable::make(Int(32), loop.name) - loop.min;
        step += cast<int64_t>(at) * Expr(inner * share(shared.elements * element_bytes, tiles));
        inner *= *as_const_int(loop.extent);
    }
    return cast<int64_t>(first) * Expr(element_bytes) + step;
}

class FetchNextPanel : public IRMutator {
public:
    explicit FetchNextPanel(std::string buffer) : buffer_(std::move(buffer)) {}

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
        VectorLoads loads(buffer_);
        op->body.accept(&loads);
        FetchedLines lines;
        int64_t count = 0;
        for (const Expr &place : loads.places) count += lines.is_new(place, loads.element);
        is_read_ = count > 0;
        if (!is_read_) return op;
        const Expr place = without_lets(loads.places.front());
        const auto shared = shared_panel(place, loops_);
        if (!shared) return op;
        Stmt body = op->body;
        const Expr start = fetched_place(*shared, place, loads.element.bytes());
        for (int64_t line = share(count, shared->tile_count()); line-- > 0;) {
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

void fetch_next_panel(Pipeline &pipeline, const std::string &buffer) {
    pipeline.add_custom_lowering_pass(new FetchNextPanel(buffer));
}

}  // namespace kiln
