#include "generators/epilogue.h"

namespace kiln {

using Halide::Expr;
using Halide::select;

Expr apply_epilogue(const Workload &workload, Expr sum, const Expr &bias, const Expr &addend) {
    for (const EpilogueStep &step : workload.epilogue) {
        switch (step.kind) {
            case EpilogueStep::Kind::bias:
                sum += bias;
                break;
            case EpilogueStep::Kind::add:
                sum += addend;
                break;
            case EpilogueStep::Kind::relu:
                sum = select(sum < 0.0f, 0.0f, sum);
                break;
            case EpilogueStep::Kind::clamp:
                sum = select(sum < step.lo, step.lo, sum);
                sum = select(sum > step.hi, step.hi, sum);
                break;
        }
    }
    return sum;
}

}  // namespace kiln
