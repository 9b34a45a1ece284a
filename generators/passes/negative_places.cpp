#include "generators/passes/negative_places.h"

#include <optional>
#include <string>

namespace kiln {
namespace {

using namespace Halide;
using namespace Halide::Internal;

class HideNegativePlaces : public IRMutator {
    using IRMutator::visit;

    Expr visit(const Load *op) override {
        const auto *ramp = op->index.as<Ramp>();
        const auto first = ramp ? as_const_int(ramp->base) : std::nullopt;
        if (!first || *first >= 0 || is_const_one(op->predicate)) return IRMutator::visit(op);
        const std::string place = unique_name("place");
        const Expr index = Ramp::make(Variable::make(Int(32), place), ramp->stride, ramp->lanes);
        return Let::make(
            place, ramp->base,
            Load::make(op->type, op->name, index, op->image, op->param, mutate(op->predicate), op->alignment));
    }
};

}  // namespace

void allow_negative_places(Pipeline &pipeline) { pipeline.add_custom_lowering_pass(new HideNegativePlaces); }

}  // namespace kiln
