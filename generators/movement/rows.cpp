#include "generators/movement/rows.h"

#include "schedules/apply/movement/move_rows.h"
#include "workload/signature.h"

namespace kiln {
namespace {

using namespace Halide;

class RowsKernel : public MovementKernel {
public:
    RowsKernel(const Workload &w, const Movement &m, const MoveRowsKnobs &chosen)
        : MovementKernel(m, loops_of_digits(m)), workload(w), knobs(chosen) {}

    void define(const Func &from, Func output) override {
        operand = from;
        output(arguments()) = moved.is_regular ? element(moved, operand, digits()) : divided_element();
    }

    void schedule(Func output) override { apply_move_rows(scheduled(output), memory_of(operand), knobs); }

private:
    // The element where blocks do not divide each other: by coordinates of the result, then of the operand.
    Expr divided_element() const {
        const Signature tensors = signature(workload);
        const TensorForm &from = tensors.operands[0], &to = tensors.result;
        const std::vector<Expr> at = result_coordinates(to), source = operand_coordinates(at, from.logical.size());
        Expr exists = Internal::const_true();
        for (size_t axis = 0; axis < at.size(); axis++) exists = exists && at[axis] < extent(to.logical[axis]);
        for (size_t axis = 0; axis < source.size(); axis++) {
            exists = exists && source[axis] < extent(from.logical[axis]);
        }
        return element_or_zero(moved, operand, exists, position_in(from, source));
    }

    std::vector<Expr> result_coordinates(const TensorForm &to) const {
        std::vector<Expr> at(to.logical.size(), 0);
        size_t next = 0;
        for (const StoredDimension &d : to.stored) {
            if (d.extent > 1) at[d.axis] += loops[next++].variable * extent(d.step);
        }
        return at;
    }

    std::vector<Expr> operand_coordinates(const std::vector<Expr> &at, size_t axes) const {
        std::vector<Expr> source(axes, 0);
        const auto components = moved_components(workload);
        for (size_t axis = 0; axis < at.size(); axis++) {
            for (size_t c = 0; c < components[axis].size(); c++) {
                const MovedComponent &part = components[axis][c];
                Expr value = at[axis] / extent(part.place);
                if (c > 0) value = value % extent(part.extent);
                source[part.axis] += value * extent(part.unit);
            }
        }
        return source;
    }

    static Expr position_in(const TensorForm &form, const std::vector<Expr> &at) {
        Expr position = 0;
        int64_t stride = 1;
        for (size_t d = form.stored.size(); d-- > 0; stride *= form.stored[d].extent) {
            const StoredDimension &dimension = form.stored[d];
            const Expr along = at[dimension.axis] / extent(dimension.step);
            position += along % extent(dimension.extent) * extent(stride);
        }
        return position;
    }

    Workload workload;
    MoveRowsKnobs knobs;
    Func operand;
};

}  // namespace

std::unique_ptr<MovementKernel> rows_kernel(const Workload &workload, const MoveRowsKnobs &knobs) {
    return std::make_unique<RowsKernel>(workload, movement(workload), knobs);
}

}  // namespace kiln
