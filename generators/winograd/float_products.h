// The frames of the generators whose products are of f32, Winograd's and Strassen's: operands, phases, and the packed weights.
#pragma once

#include <Halide.h>

#include "generators/activation.h"
#include "generators/conv_prologue.h"
#include "generators/conv_result.h"
#include "generators/winograd/fetched_image.h"
#include "generators/winograd/winograd_sums.h"
#include "schedules/apply/winograd.h"

namespace kiln {

// A convolution. Derived defines `transformed` and the output: define_transformed(), define_output(). Facts<Derived>::read_facts() reads the
// workload and the candidate.
template<template<typename> class Facts, typename Derived>
class FloatProducts : public WinogradSums<WithPrologue<WithResult<Facts<Derived>>>> {
public:
    Halide::GeneratorInput<Halide::Buffer<void, 6>> input{"input"};  // c in block, x, y, z, block, n
    // lane, vector, ci, panel of a block, frequency or product, block
    Halide::GeneratorInput<Halide::Buffer<void, 6>> weights{"weights"};

    void configure() {
        this->read_facts();
        input.set_type(ConvTypes(this->workload).operand);
        weights.set_type(this->weight_type());
        this->add_result_operands();
        this->add_prologue_operands();
    }

    void generate() {
        static_cast<Derived *>(this)->define_transformed();
        this->define_float_sum(weights);
        static_cast<Derived *>(this)->define_output();
    }

    void schedule() {
        fix_activation(input, this->loops.stored_input);
        fix(weights, this->weight_extents());
        this->fix_prologue_operands();
        this->give_result_to(&this->s);
        apply_winograd(this->s, this->knobs, this->facts);
        fetch_image_ahead(this->get_pipeline(), this->workload, this->facts, this->knobs.prefetch,
                          input.type().bytes());
    }
};

// Its packed weights. Packing happens once, so it can afford double, rounded once at the end. Derived defines them: define_packed().
template<template<typename> class Facts, typename Derived>
class FloatProductsPack : public Facts<Derived> {
public:
    Halide::GeneratorInput<Halide::Buffer<void, 5>> kernel{"kernel"};  // as stored: (co, ci) or (ci, co), s, r, t
    Halide::GeneratorOutput<Halide::Buffer<void, 6>> packed{
        "packed"};  // the order of the sum, as FloatProducts::weights

    void configure() {
        this->read_facts();
        kernel.set_type(ConvTypes(this->workload).operand);
        packed.set_type(this->weight_type());
    }

    void generate() { static_cast<Derived *>(this)->define_packed(); }

    void schedule() {
        fix_kernel(kernel, is_hwio(), this->loops.kernel_map);
        fix(packed, this->weight_extents());
        s.packed = packed;
        apply_winograd_pack(s, this->facts);
    }

protected:
    bool is_hwio() const { return this->workload.kernel_layout == KernelLayout::hwio; }

    // At (group, co, ci, s, r, t).
    Halide::Expr stored(const Exprs &indices) const {
        const Halide::Expr element = kernel_element(kernel, is_hwio(), this->loops.kernel_map, indices);
        return Halide::cast<double>(Halide::cast<float>(element));
    }

    WinogradPackStages s;
};

}  // namespace kiln
