// The input of a convolution as its sums read it: behind the steps of a prologue, and with zeros in the padding and in holes.
#pragma once

#include <Halide.h>

#include <map>
#include <string>

#include "generators/activation.h"
#include "generators/epilogue.h"
#include "generators/masked_load.h"
#include "workload/signature.h"

namespace kiln {

// Adds the prologue's operands to a generator that has the loops of a convolution, and reads elements with them.
template<typename Generator>
class WithPrologue : public Generator {
protected:
    using Expr = Halide::Expr;

    // To be called in configure(), behind all other operands.
    void add_prologue_operands() {
        for (const StepOperand &operand : prologue_operands()) {
            if (!has_step(this->workload.prologue, operand.step)) continue;
            prologue_inputs[operand.step] =
                this->template add_input<Halide::Buffer<>>(std::string(operand.name), Halide::Float(32), 1);
        }
    }

    void fix_prologue_operands() {
        for (const auto &[step, input] : prologue_inputs) fix(*input, {channels()});
    }

    // The element at `indices` of the map, in f32. With `masks` vectors of channels may reach behind the last one; `input` is
    // read with masks then, too.
    template<typename Input>
    Expr loaded(const Input &input, const ElementMap &map, const Exprs &indices, Tests tests,
                bool masks = false) const {
        const StoredActivation &stored = this->loops.stored_input;
        if (this->workload.prologue.empty()) return element(input, stored, map, indices, tests);
        Expr channel = nearest(map[input_index::c], indices);
        if (stored.channels != channels()) channel = channel % extent(channels());  // columns joined to channels
        const Expr read = Halide::cast<float>(stored_element(input, stored, map, indices));
        return zero_outside(map, indices, behind_prologue(channel, read, masks), tests);
    }

    // What the prologue makes of an element of that channel.
    Expr behind_prologue(const Expr &channel, const Expr &value, bool masks = false) const {
        StepValues values;
        for (const auto &[step, operand] : prologue_inputs) {
            values[step] = masks ? MaskedChannels{*operand, channels()}(channel) : Expr((*operand)(channel));
        }
        return apply_steps(this->workload.prologue, this->workload.special_values, value, values);
    }

private:
    int64_t channels() const { return this->workload.input.back(); }  // of one image

    std::map<EpilogueStep::Kind, Halide::GeneratorInput<Halide::Buffer<>> *> prologue_inputs;
};

}  // namespace kiln
