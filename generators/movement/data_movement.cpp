// Data movement: space_to_depth, depth_to_space and layout_transform are one permutation of digits
// (rewrites/movement.h). The candidate says which template computes it.
#include <Halide.h>

#include <memory>
#include <vector>

#include "generators/kernel_generator.h"
#include "generators/movement/matrix.h"
#include "generators/movement/rows.h"
#include "generators/movement/shuffle.h"
#include "generators/movement/transpose.h"
#include "schedules/candidate.h"
#include "schedules/spaces/movement/move_method.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {
namespace {

using namespace Halide;

std::unique_ptr<MovementKernel> chosen_kernel(const Workload &workload, const Knobs &knobs,
                                              const kiln::Target &target) {
    const auto method = method_of(knobs);
    switch (method) {
        case move_rows:
            return rows_kernel(workload, checked_knobs<MoveRowsKnobs>(knobs));
        case move_transpose:
            return transpose_kernel(movement(workload), checked_knobs<MoveTransposeKnobs>(knobs));
        case move_shuffle:
            return shuffle_kernel(movement(workload), checked_knobs<MoveShuffleKnobs>(knobs));
        case move_stream:
        case move_matrix:
            break;
    }
    return matrix_kernel(movement(workload), {checked_knobs<MoveMatrixKnobs>(knobs), method == move_stream}, target);
}

class DataMovement : public KernelGenerator<DataMovement> {
public:
    void configure() {
        read_parameters();
        kernel = chosen_kernel(workload, candidate.knobs, target_of_kiln);
        const Type bits = UInt(8 * extent(size_of(workload.dtype)));
        operand_elements = movement(workload).read_elements;
        operand = add_input<Buffer<>>("operand", bits, 1);
        output = add_output<Buffer<>>("output", bits, extent(kernel->dimensions().size()));
    }

    void generate() { kernel->define(*operand, *output); }

    void schedule() {
        fix(*operand, {operand_elements});
        std::vector<int64_t> extents;
        for (const MovedLoop &loop : kernel->dimensions()) extents.insert(extents.begin(), loop.extent);
        fix(*output, extents);
        kernel->schedule(*output);
    }

private:
    std::unique_ptr<MovementKernel> kernel;
    int64_t operand_elements = 0;
    GeneratorInput<Buffer<>> *operand = nullptr;
    GeneratorOutput<Buffer<>> *output = nullptr;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::DataMovement, space_to_depth)
HALIDE_REGISTER_GENERATOR(kiln::DataMovement, depth_to_space)
HALIDE_REGISTER_GENERATOR(kiln::DataMovement, layout_transform)
