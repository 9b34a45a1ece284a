#include "catalog/operators/nest_algorithm.h"

#include <string>

#include "catalog/operators/transform_algorithms.h"
#include "schedules/spaces/nest_tile_space.h"
#include "workload/signature.h"

namespace kiln {
namespace {

using scalar::Element;
using scalar::Function;

// Whether a step has a form that runs in vectors and is as accurate as f32 arithmetic.
bool has_vector_form(const scalar::Step &step) {
    switch (step.function) {
        case Function::sine:
        case Function::cosine:
        case Function::is_nan:
        case Function::is_infinite:
        case Function::remainder:
            return false;
        case Function::constant:
        case Function::cast:
            return step.type == Element::f32 || step.type == Element::boolean;
        default:
            return true;
    }
}

}  // namespace

Status nest_applies(std::string_view, const Workload &w, const Target &) {
    if (!is_nest(w.op)) return unsupported("operation " + op_name(w) + " is another one");
    const Nest nest = nest_of(w);
    for (const scalar::Expression *expression : {&nest.term, &nest.finish}) {
        for (const scalar::Step &step : expression->steps) {
            if (!has_vector_form(step))
                return unsupported("no kernel has the function " + std::string(scalar::name(step.function)));
        }
    }
    const Signature tensors = signature(w);
    for (const TensorForm &operand : tensors.operands) {
        if (Status s = fits_32_bits(operand); !s) return s;
    }
    return fits_32_bits(tensors.result);
}

Space nest_space(const Candidate &base, const Workload &w, const Target &target, const Core &) {
    return nest_tile_space(base, nest_of(w), target);
}

}  // namespace kiln
