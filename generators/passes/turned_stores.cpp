#include "generators/passes/turned_stores.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kiln {
namespace {

using namespace Halide;
using namespace Halide::Internal;

constexpr size_t turned = 4;         // numbers of 32 bits in 128
constexpr size_t most_between = 16;  // stores from one neighbour to the next, of other vectors of channels

// Values and their names, in an order in which each may use those before it.
using Named = std::vector<std::pair<std::string, Expr>>;

Expr name(const Expr &value, Named *named) {
    named->emplace_back(unique_name('t'), value);
    return Variable::make(value.type(), named->back().first);
}

Stmt within(const Named &named, Stmt body) {
    for (auto it = named.rbegin(); it != named.rend(); ++it) body = LetStmt::make(it->first, it->second, body);
    return body;
}

// A place without the names of what it is computed from.
Expr spelled_out(Expr place, const Named &named) {
    for (auto it = named.rbegin(); it != named.rend(); ++it) place = substitute(it->first, it->second, place);
    return place;
}

// Vectors whose lanes are so many elements apart.
struct Apart {
    Expr first;
    int64_t by = 0;
    int lanes = 0;

    bool is_like(const Apart &other) const { return by == other.by && lanes == other.lanes; }
};

std::optional<Apart> apart(const Expr &index, const Type &type, const Expr &predicate) {
    const auto *place = index.as<Ramp>();
    if (!place || place->base.type().is_vector() || type.bits() != 32 || !is_const_one(predicate)) return std::nullopt;
    const auto by = as_const_int(place->stride);
    const bool is_apart = by && (*by >= int64_t(turned) || *by <= -int64_t(turned));
    if (!is_apart || place->lanes % int(turned) != 0) return std::nullopt;
    return Apart{place->base, *by, place->lanes};
}

class FindNames : public IRVisitor {
public:
    std::set<std::string> variables, buffers;

private:
    using IRVisitor::visit;
    void visit(const Variable *op) override { variables.insert(op->name); }
    void visit(const Load *op) override {
        buffers.insert(op->name);
        IRVisitor::visit(op);
    }
};

// A store of vectors whose lanes are apart. `first` of its place is spelled out.
struct ApartStore {
    Stmt statement;
    Apart place;

    const Store *store() const { return statement.as<Store>(); }
};

// Such stores that follow each other, and what is named in front of any of them. None of all that reads what they store.
struct Run {
    std::vector<ApartStore> stores;
    Named named;
};

// Adds a store; answers whether `s` is one that may be added.
bool add_store(Stmt s, Named before, Run *run) {
    while (const auto *let = s.as<LetStmt>()) {  // renamed, so that it may be visible to all that follow
        const Expr named = name(let->value, &before);
        s = substitute(let->name, named, let->body);
    }
    const auto *store = s.as<Store>();
    auto place = store ? apart(store->index, store->value.type(), store->predicate) : std::nullopt;
    if (!place) return false;
    FindNames reads;
    store->value.accept(&reads);
    for (const auto &[name, value] : before) value.accept(&reads);
    const bool is_other = !run->stores.empty() && run->stores.front().store()->name != store->name;
    if (is_other || reads.buffers.contains(store->name)) return false;
    for (const auto &[name, value] : before) {
        const bool is_named = std::any_of(run->named.begin(), run->named.end(),
                                          [&name = name](const auto &other) { return other.first == name; });
        if (is_named) return false;
    }
    run->named.insert(run->named.end(), before.begin(), before.end());
    place->first = spelled_out(place->first, run->named);
    run->stores.push_back({std::move(s), *place});
    return true;
}

bool follows(const Apart &a, const Apart &b) {
    const auto distance = a.is_like(b) ? as_const_int(simplify(b.first - a.first)) : std::nullopt;
    return distance && *distance == 1;
}

// Stores of four neighbours, and others by themselves, in the order of their first.
std::vector<std::vector<size_t>> groups_of(const Run &run) {
    std::vector<std::vector<size_t>> groups;
    std::vector<bool> is_taken(run.stores.size(), false);
    for (size_t first = 0; first < run.stores.size(); first++) {
        if (is_taken[first]) continue;
        std::vector<size_t> group{first};
        for (size_t i = first + 1; i < run.stores.size() && group.size() < turned; i++) {
            if (i > group.back() + most_between) break;
            if (!is_taken[i] && follows(run.stores[group.back()].place, run.stores[i].place)) group.push_back(i);
        }
        if (group.size() < turned) group.resize(1);
        for (const size_t i : group) is_taken[i] = true;
        groups.push_back(std::move(group));
    }
    return groups;
}

// Of each 128 bits of two vectors, the lower or the upper halves, number by number in turns.
Expr halves_in_turns(const Expr &a, const Expr &b, bool upper) {
    const int lanes = a.type().lanes(), half = int(turned) / 2;
    std::vector<int> places;
    for (int begin = upper ? half : 0; begin < lanes; begin += int(turned)) {
        for (int place = begin; place < begin + half; place++) places.insert(places.end(), {place, lanes + place});
    }
    return Shuffle::make({a, b}, places);
}

// Turns four vectors within each 128 bits: vector `i` of the result has lanes i, i + 4, ... of each, the four of a lane side by side.
// Turned again, they are as before.
std::vector<Expr> turned_within_lanes(const std::vector<Expr> &vectors, Named *named) {
    std::vector<Expr> even, odd, all;
    for (const bool upper : {false, true}) {
        even.push_back(name(halves_in_turns(vectors[0], vectors[2], upper), named));
        odd.push_back(name(halves_in_turns(vectors[1], vectors[3], upper), named));
    }
    for (size_t half = 0; half < 2; half++) {
        for (const bool upper : {false, true})
            all.push_back(name(halves_in_turns(even[half], odd[half], upper), named));
    }
    return all;
}

// The places of four neighbours that lanes i, i + 4, ... of four vectors have.
Expr place_of_row(const Apart &of, size_t lane) {
    const Expr at = simplify(of.first + make_const(Int(32), of.by * int64_t(lane)));
    return Ramp::make(at, 1, int(turned));
}

Stmt stored_rows(const ApartStore &of, const std::vector<Expr> &rows) {
    std::vector<Stmt> parts;
    for (size_t lane = 0; lane < size_t(of.place.lanes); lane++) {
        const int begin = int(lane / turned * turned);
        parts.push_back(Store::make(of.store()->name, Shuffle::make_slice(rows[lane % turned], begin, 1, int(turned)),
                                    place_of_row(of.place, lane), of.store()->param, const_true(int(turned)),
                                    ModulusRemainder()));
    }
    return Block::make(parts);
}

std::vector<Expr> loaded_rows(const Load *load, const Apart &of, Named *named) {
    std::vector<Expr> rows;
    for (size_t first = 0; first < turned; first++) {
        std::vector<Expr> parts;
        for (size_t lane = first; lane < size_t(of.lanes); lane += turned)
            parts.push_back(Load::make(load->type.with_lanes(int(turned)), load->name, place_of_row(of, lane),
                                       load->image, load->param, const_true(int(turned)), ModulusRemainder()));
        rows.push_back(name(parts.size() > 1 ? Shuffle::make_concat(parts) : parts.front(), named));
    }
    return rows;
}

using Replaced = std::map<const Load *, Expr>;

class ReplaceLoads : public IRMutator {
public:
    explicit ReplaceLoads(const Replaced &by) : by_(by) {}

private:
    using IRMutator::visit;
    Expr visit(const Load *op) override {
        const auto found = by_.find(op);
        return found == by_.end() ? IRMutator::visit(op) : found->second;
    }

    const Replaced &by_;
};

// Loads of vectors that lie as a store's do.
class LoadsAlike : public IRVisitor {
public:
    explicit LoadsAlike(const Apart &place) : place_(place) {}
    std::vector<const Load *> found;

private:
    using IRVisitor::visit;
    void visit(const Load *op) override {
        const auto place = apart(op->index, op->type, op->predicate);
        const bool is_new = std::find(found.begin(), found.end(), op) == found.end();
        if (place && place->is_like(place_) && is_new) found.push_back(op);
        IRVisitor::visit(op);
    }

    const Apart &place_;
};

// What is to be written in place of a run.
class TurnedRun {
public:
    explicit TurnedRun(const Run &run) : run_(run), is_written_(run.named.size(), false) {}

    // Each statement with what is named in front of it for all that follow; at the end what nothing of the run uses.
    std::vector<std::pair<Named, Stmt>> written() {
        std::vector<std::pair<Named, Stmt>> all;
        for (const std::vector<size_t> &group : groups_of(run_)) {
            Named named;
            all.emplace_back(named, group.size() == turned ? four(group, &named) : one(group.front(), &named));
            all.back().first = std::move(named);
        }
        return all;
    }
    Named left() {
        Named named;
        for (size_t i = 0; i < run_.named.size(); i++) write(i, {}, &named);
        return named;
    }

private:
    void write(size_t i, const Replaced &by, Named *named) {
        if (is_written_[i]) return;
        is_written_[i] = true;
        named->emplace_back(run_.named[i].first, ReplaceLoads(by).mutate(run_.named[i].second));
    }

    // Which names a value needs that are not written yet, in their order.
    std::vector<size_t> needed_by(const Expr &value) const {
        FindNames uses;
        value.accept(&uses);
        std::vector<size_t> needed;
        for (size_t i = run_.named.size(); i-- > 0;) {
            if (is_written_[i] || !uses.variables.contains(run_.named[i].first)) continue;
            needed.push_back(i);
            run_.named[i].second.accept(&uses);
        }
        std::reverse(needed.begin(), needed.end());
        return needed;
    }

    Stmt one(size_t i, Named *named) {
        const ApartStore &of = run_.stores[i];
        for (const Expr &part : {of.store()->value, of.store()->index}) {
            for (const size_t k : needed_by(part)) write(k, {}, named);
        }
        return of.statement;
    }

    Stmt four(const std::vector<size_t> &group, Named *named) {
        std::vector<std::vector<size_t>> needed;
        std::vector<std::vector<const Load *>> loads;
        for (const size_t i : group) {
            const ApartStore &of = run_.stores[i];
            needed.push_back(needed_by(of.store()->value));
            LoadsAlike alike(of.place);
            for (const size_t k : needed.back()) run_.named[k].second.accept(&alike);
            of.store()->value.accept(&alike);
            loads.push_back(std::move(alike.found));
        }
        const Replaced by = turned_loads(loads, named);
        std::vector<Expr> columns;
        for (size_t i = 0; i < turned; i++) {
            for (const size_t k : needed[i]) write(k, by, named);
            columns.push_back(name(ReplaceLoads(by).mutate(run_.stores[group[i]].store()->value), named));
        }
        return stored_rows(run_.stores[group.front()], turned_within_lanes(columns, named));
    }

    // What is added to four columns, and lies as they do, is loaded as they are stored.
    Replaced turned_loads(const std::vector<std::vector<const Load *>> &loads, Named *named) const {
        Replaced by;
        for (size_t k = 0; k < loads[0].size(); k++) {
            std::vector<Apart> places;
            for (const auto &of_column : loads) {
                const bool is_there = k < of_column.size() && of_column[k]->name == loads[0][k]->name;
                if (!is_there) return by;
                places.push_back(*apart(of_column[k]->index, of_column[k]->type, of_column[k]->predicate));
                places.back().first = spelled_out(places.back().first, run_.named);
                if (places.size() > 1 && !follows(places[places.size() - 2], places.back())) return by;
            }
            const std::vector<Expr> columns = turned_within_lanes(loaded_rows(loads[0][k], places[0], named), named);
            for (size_t i = 0; i < turned; i++) by[loads[i][k]] = columns[i];
        }
        return by;
    }

    const Run &run_;
    std::vector<bool> is_written_;
};

// A statement, and what is named in front of it for it and all that follow.
using Step = std::pair<Named, Stmt>;

std::vector<Step> steps_of(Stmt rest) {
    std::vector<Step> steps(1);
    while (true) {
        if (const auto *let = rest.as<LetStmt>()) {
            steps.back().first.emplace_back(let->name, let->value);
            rest = let->body;
        } else if (const auto *block = rest.as<Block>()) {
            steps.back().second = block->first;
            steps.emplace_back();
            rest = block->rest;
        } else {
            steps.back().second = rest;
            return steps;
        }
    }
}

Stmt joined(const std::vector<Step> &steps) {
    Stmt all;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        if (step->second.defined()) all = all.defined() ? Block::make(step->second, all) : step->second;
        if (all.defined()) all = within(step->first, all);
    }
    return all;
}

class TurnStores : public IRMutator {
    using IRMutator::visit;

    Stmt visit(const Block *op) override { return in_fours(op); }
    Stmt visit(const LetStmt *op) override { return in_fours(op); }

    Stmt in_fours(const Stmt &all) {
        const std::vector<Step> steps = steps_of(all);
        std::vector<Step> done;
        for (size_t i = 0; i < steps.size();) {
            Run run;
            size_t end = i;
            while (end < steps.size() && add_store(steps[end].second, steps[end].first, &run)) end++;
            if (run.stores.size() < turned) {
                done.emplace_back(steps[i].first, mutate(steps[i].second));
                i++;
                continue;
            }
            TurnedRun turned_run(run);
            for (Step &step : turned_run.written()) done.push_back(std::move(step));
            done.emplace_back(turned_run.left(), Stmt());
            i = end;
        }
        return joined(done);
    }
};

}  // namespace

void turn_stores(Pipeline &pipeline) { pipeline.add_custom_lowering_pass(new TurnStores); }

}  // namespace kiln
