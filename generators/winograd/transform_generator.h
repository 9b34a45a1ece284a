// What the generators of the Winograd transforms share: tensors of any dtype and order of dimensions, and the two
// matrix products of a tile.
#pragma once

#include <Halide.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "catalog/winograd_operation.h"
#include "generators/halide_type.h"
#include "generators/kernel_generator.h"
#include "generators/winograd/transform.h"
#include "schedules/apply/transform_tile.h"
#include "workload/signature.h"
#include "workload/target.h"
#include "workload/winograd_sizes.h"

namespace kiln {

// One operand, one result; arithmetic in f32.
template<typename Derived>
class TransformGenerator : public KernelGenerator<Derived> {
public:
    void configure() {
        this->read_parameters();
        sizes = winograd_sizes(workload);
        const Signature tensors = signature(workload);
        read_form = tensors.operands[0], written_form = tensors.result;
        operand = this->template add_input<Halide::Buffer<>>("operand", halide_type(read_form.dtype), rank(read_form));
        output =
            this->template add_output<Halide::Buffer<>>("output", halide_type(written_form.dtype), rank(written_form));
    }

    void schedule() {
        fix(*operand, innermost_first(read_form));
        fix(*output, innermost_first(written_form));
        stages.output = *output;
        for (size_t d = 0; d < written_form.stored.size(); d++) take_role(written_form.stored[d].name, variables[d]);
        stages.innermost = variables.back();
        apply_transform_tile(stages, *decode_knobs<TransformTileKnobs>(candidate.knobs), transform_shape(workload),
                             this->target_of_kiln);
    }

protected:
    using Expr = Halide::Expr;
    using Var = Halide::Var;

    static int rank(const TensorForm &form) { return static_cast<int>(form.stored.size()); }

    // The operand at logical coordinates.
    Expr read(const std::vector<Expr> &logical) const {
        std::vector<Expr> arguments;
        for (size_t d = read_form.stored.size(); d-- > 0;) {
            const StoredDimension &dimension = read_form.stored[d];
            const Expr &at = logical[dimension.axis];
            const bool in_blocks = dimension.extent * dimension.step < read_form.logical[dimension.axis];
            Expr index = dimension.step > 1 ? at / extent(dimension.step) : at;
            if (in_blocks) index = index % extent(dimension.extent);
            arguments.push_back(index);
        }
        return Halide::cast<float>((*operand)(arguments));
    }

    // tile(c, j, i, ...) = left * value * right^T of every tile, where value(l, k) is what is read of it.
    void define_tile(const std::function<Expr(const Expr &, const Expr &)> &value) {
        const auto matrices = winograd_matrices_of(workload);  // the catalog has checked
        const Matrix &left = transform_matrix((*matrices)[0], workload.op),
                     &right = transform_matrix((*matrices)[1], workload.op);
        TransformStages &s = stages;
        s.half = Halide::Func("half"), s.tile = Halide::Func("tile");
        std::vector<Expr> rows, columns;
        for (size_t l = 0; l < left[0].size(); l++) rows.push_back(value(static_cast<int>(l), s.k));
        s.half(s.c, s.k, s.i, s.x, s.y, s.n) = entry_at(s.i, winograd_transform(left, rows));
        for (size_t k = 0; k < right[0].size(); k++) {
            columns.push_back(s.half(s.c, static_cast<int>(k), s.i, s.x, s.y, s.n));
        }
        s.tile(s.c, s.j, s.i, s.x, s.y, s.n) = entry_at(s.j, winograd_transform(right, columns));
        s.half_extents = {extent(left.size()), extent(right[0].size())};
        s.tile_extents = {extent(left.size()), extent(right.size())};
    }

    // Defines the output; element(logical) is its value at logical coordinates.
    void define_output(const std::function<Expr(const std::vector<Expr> &)> &element) {
        std::vector<Expr> logical(written_form.logical.size(), 0);
        std::vector<Var> arguments;
        for (const StoredDimension &dimension : written_form.stored) {
            variables.emplace_back(dimension.name);
            const Expr part = dimension.step > 1 ? variables.back() * extent(dimension.step) : Expr(variables.back());
            Expr &sum = logical[dimension.axis];
            sum = Halide::Internal::is_const_zero(sum) ? part : sum + part;
        }
        for (size_t d = variables.size(); d-- > 0;) arguments.push_back(variables[d]);
        (*output)(arguments) = Halide::cast(halide_type(written_form.dtype), element(logical));
    }

    using KernelGenerator<Derived>::workload, KernelGenerator<Derived>::candidate;
    WinogradSizes sizes;
    TensorForm read_form, written_form;
    Halide::GeneratorInput<Halide::Buffer<>> *operand = nullptr;
    Halide::GeneratorOutput<Halide::Buffer<>> *output = nullptr;
    std::vector<Var> variables;  // of the output, outermost first
    TransformStages stages;

private:
    static std::vector<int64_t> innermost_first(const TensorForm &form) {
        std::vector<int64_t> extents = form.shape();
        std::reverse(extents.begin(), extents.end());
        return extents;
    }

    void take_role(const std::string &name, const Var &variable) {
        const bool is_filter = workload.op == Operation::winograd_filter_transform;
        const bool hwio = workload.kernel_layout == KernelLayout::hwio;
        if (name == "i" || name == "j") {
            stages.inside.push_back(variable);
        } else if (name == "c" || name == (hwio ? "co" : "ci")) {
            stages.output_c = variable;
        } else if (name == "w" || name == (hwio ? "ci" : "co")) {
            stages.output_x = variable;
        } else if (name == "h") {
            stages.output_y = variable;
        } else {
            stages.outer.push_back(variable);
        }
        stages.has_rows = !is_filter;
    }
};

}  // namespace kiln
