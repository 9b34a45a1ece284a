#include "generators/passes/shuffled_registers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace kiln {
namespace {

using namespace Halide;
using namespace Halide::Internal;

using Places = std::vector<int>;

template<typename Op>
std::optional<Places> places_of(const Op *op, int (*combined)(int, int));

// The places of a vector, where they are known.
std::optional<Places> known_places(const Expr &index) {
    if (const auto *ramp = index.as<Ramp>()) {
        const auto step = as_const_int(ramp->stride);
        const auto first = known_places(ramp->base);
        if (!first || !step) return std::nullopt;
        Places places;
        for (int i = 0; i < ramp->lanes; i++) {
            for (const int place : *first) places.push_back(place + i * static_cast<int>(*step));
        }
        return places;
    }
    if (const auto *same = index.as<Broadcast>()) {
        const auto value = known_places(same->value);
        if (!value) return std::nullopt;
        Places places;
        for (int i = 0; i < same->lanes; i++) places.insert(places.end(), value->begin(), value->end());
        return places;
    }
    if (const auto *op = index.as<Add>()) return places_of(op, [](int a, int b) { return a + b; });
    if (const auto *op = index.as<Sub>()) return places_of(op, [](int a, int b) { return a - b; });
    if (const auto *op = index.as<Mul>()) return places_of(op, [](int a, int b) { return a * b; });
    if (const auto *op = index.as<Div>()) return places_of(op, [](int a, int b) { return div_imp(a, b); });
    if (const auto *op = index.as<Mod>()) return places_of(op, [](int a, int b) { return mod_imp(a, b); });
    const auto place = as_const_int(index);
    return place ? std::optional(Places{static_cast<int>(*place)}) : std::nullopt;
}

template<typename Op>
std::optional<Places> places_of(const Op *op, int (*combined)(int, int)) {
    auto a = known_places(op->a);
    const auto b = known_places(op->b);
    if (!a || !b) return std::nullopt;
    for (size_t i = 0; i < a->size(); i++) (*a)[i] = combined((*a)[i], (*b)[i]);
    return a;
}

// How many lanes the vectors have that are stored, if all have as many and each begins where another ends.
class StoredVectors : public IRVisitor {
public:
    explicit StoredVectors(std::string name) : name_(std::move(name)) {}

    int lanes() const { return alike_ ? lanes_ : 0; }

private:
    using IRVisitor::visit;

    void visit(const Store *op) override {
        IRVisitor::visit(op);
        if (op->name != name_) return;
        const auto *ramp = op->index.as<Ramp>();
        const auto first = ramp && is_const_one(ramp->stride) ? as_const_int(ramp->base) : std::nullopt;
        if (lanes_ == 0 && ramp) lanes_ = ramp->lanes;
        alike_ = alike_ && first && ramp->lanes == lanes_ && *first % lanes_ == 0;
    }

    const std::string name_;
    int lanes_ = 0;
    bool alike_ = true;
};

class ShuffleRegisters : public IRMutator {
public:
    explicit ShuffleRegisters(std::string stage) : stage_(std::move(stage)) {}

private:
    using IRMutator::visit;

    Stmt visit(const Allocate *op) override {
        const std::string of = op->name.substr(0, op->name.find('$'));
        if (op->memory_type == MemoryType::Register && of == stage_) {
            StoredVectors stored(op->name);
            op->body.accept(&stored);
            if (stored.lanes() > 1) lanes_[op->name] = stored.lanes();
        }
        return IRMutator::visit(op);
    }

    Expr visit(const Load *op) override {
        const auto stored = lanes_.find(op->name);
        if (stored == lanes_.end() || op->type.is_scalar() || !is_const_one(op->predicate)) return IRMutator::visit(op);
        const auto places = known_places(op->index);
        return places ? shuffled(op, *places, stored->second) : IRMutator::visit(op);
    }

    static Expr shuffled(const Load *op, const Places &places, int lanes) {
        std::vector<int> starts;
        for (const int place : places) starts.push_back(place / lanes * lanes);
        std::sort(starts.begin(), starts.end());
        starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
        std::vector<Expr> vectors;
        for (const int start : starts) {
            vectors.push_back(Load::make(op->type.with_lanes(lanes), op->name, Ramp::make(start, 1, lanes), op->image,
                                         op->param, const_true(lanes), ModulusRemainder(lanes, 0)));
        }
        std::vector<int> indices;
        for (const int place : places) {
            const auto start = std::lower_bound(starts.begin(), starts.end(), place / lanes * lanes);
            indices.push_back(static_cast<int>(start - starts.begin()) * lanes + place % lanes);
        }
        return Shuffle::make(vectors, indices);
    }

    const std::string stage_;
    std::map<std::string, int> lanes_;  // of the vectors of an allocation
};

}  // namespace

void shuffle_registers(Pipeline &pipeline, const std::string &stage) {
    pipeline.add_custom_lowering_pass(new ShuffleRegisters(stage));
}

}  // namespace kiln
