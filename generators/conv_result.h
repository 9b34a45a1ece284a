// The result of a convolution: the operands of its epilogue, and the output that has the sums in their places.
#pragma once

#include <Halide.h>

#include <map>
#include <string>

#include "generators/activation.h"
#include "generators/epilogue.h"
#include "generators/masked_load.h"
#include "generators/requantize.h"
#include "rewrites/conv_loops.h"
#include "workload/quantization/quantization.h"
#include "workload/signature.h"

namespace kiln {

// Adds both to a generator. Where sums are computed elsewhere than they are stored, `gathered` holds them and the
// output picks them up: phases become pixels, groups of the batch become images.
template<typename Generator>
class WithResult : public Generator {
protected:
    using Expr = Halide::Expr;

    // To be called last in configure().
    void add_result_operands() {
        const ConvTypes types(this->workload);
        for (const StepOperand &operand : step_operands()) {
            if (!has_step(this->workload.epilogue, operand.step)) continue;
            const bool is_stored = is_like_result(operand.step);
            step_inputs[operand.step] = this->template add_input<Halide::Buffer<>>(
                std::string(operand.name), is_stored ? types.result : types.sum, is_stored ? 6 : 1);
        }
        for (const QuantizationOperand &operand : quantization_operands(this->workload)) {
            quantization[operand.role] =
                this->template add_input<Halide::Buffer<>>(std::string(operand.name), halide_type(operand.dtype), 1);
        }
        output = this->template add_output<Halide::Buffer<>>("output", types.result, 6);
        stored_result = this->loops.stored_result;
    }

    // `s` are the stages that have the output's variables. `total` is the sum of `loops` that belongs to channel c of
    // block b at x, y, z, n, as the loops count channels.
    template<typename Stages>
    void define_result(const Stages &s, Expr total) {
        const ConvLoops &l = this->loops;
        const StoredActivation stored = memory_of_result();
        const int channels = extent(stored.channels);
        const Expr co = channel_of(stored, s.c, s.b), known = stored.is_filled_up() ? min(co, channels - 1) : co;
        if (l.scatters()) {
            gathered(s.c, s.x, s.y, s.z, s.b, s.n) = total;
            const Exprs at{known, s.x, s.y, s.z, s.n};
            Exprs of = values_of(l.result, at);
            // Results of phases without taps read some sum that there is, and do not use it.
            for (const PhasesWithTaps &phases : l.phases_with_taps)
                of[1] += nearest(phases.place, at) * extent(phases.channels);
            total = l.group_panels ? gathered(of[1], of[2], of[3], of[4], of[0], of[5])
                                   : gathered(of[0] * extent(l.group_outputs()) + of[1], of[2], of[3], of[4], 0, of[5]);
            for (const PhasesWithTaps &phases : l.phases_with_taps)
                total = select(is_in_range(phases.place, at), total, Halide::cast(total.type(), 0));
        }
        const ConvTypes types(this->workload);
        StepValues operands;
        for (const auto &[step, input] : step_inputs) {
            const auto read = [&, step = step](const auto &buffer) {
                if (!is_like_result(step)) return Expr(buffer(known));
                return cast(types.sum, masked_column(s.x, buffer(s.c, column_of(s.x), s.y, s.z, s.b, s.n)));
            };
            const auto read_there = [&](const auto &buffer) {
                return masks_channels ? read(MaskedChannels{buffer, channels}) : read(buffer);
            };
            const bool is_kept = keeps_addend && is_like_result(step);
            operands[step] = is_kept ? read_there(kept_operand(s, *input)) : read_there(*input);
        }
        // Sums of integers have their bias from the start.
        const Workload &w = this->workload;
        const Staged staged = [&](const Expr &number) {
            return stored.is_filled_up() || l.scatters() ? number : staged_number(s, "number", number);
        };
        const auto of_channel = [&](Role role) { return number_of(role, known); };
        Expr value = !is_quantized(w) ? apply_steps(w.epilogue, w.special_values, total, operands, sums_are_apart)
                     : adds_quantized(this->workload)
                         ? requantize_and_add(this->workload, total, requantization(of_channel),
                                              addition(operands.at(EpilogueStep::Kind::add)), staged)
                         : requantize(this->workload, total, requantization(of_channel), staged);
        if (stored.is_filled_up()) value = select(co < channels, value, Halide::cast(value.type(), 0));
        (*output)(s.c, s.x, s.y, s.z, s.b, s.n) = convert_result(this->workload, types.result, value);
    }

    // The same in an update, at a channel that is an expression of its loops. Precondition: sums are of floats and lie where they are
    // stored.
    template<typename Stages>
    void update_result(const Stages &s, const Expr &channel, const Expr &total) {
        (*output)(s.c, s.x, s.y, s.z, s.b, s.n) = Halide::undef(ConvTypes(this->workload).result);
        const struct {
            Expr c;
            Halide::Var x, y, z, b, n;
        } at{channel, s.x, s.y, s.z, s.b, s.n};
        define_result(at, total);
    }

    // Hands the output over to a schedule, with all shapes fixed. Stages without `scattered` are for sums that lie where
    // they are stored.
    template<typename Stages>
    void give_result_to(Stages *s) {
        const ConvLoops &l = this->loops;
        fix_result(*output);
        for (const auto &[step, input] : step_inputs) {
            if (is_like_result(step)) {
                fix_result(*input);
            } else {
                fix(*input, {l.stored_result.channels});
            }
        }
        for (const QuantizationOperand &operand : quantization_operands(this->workload))
            fix(*quantization[operand.role], {operand.count});
        for (Halide::Func &copy : kept) copy_first(copy);
        s->output = *output;
        if constexpr (requires { s->numbers; }) s->numbers = {numbers, adds_quantized(this->workload)};
        if constexpr (requires { s->scattered; }) {
            if (l.scatters()) scatter(s);
        }
    }

private:
    Expr column_of(const Expr &x) const { return masks_columns ? promised(x, stored_result.space[0]) : x; }
    Expr masked_column(const Expr &x, const Expr &value) const {
        if (!masks_columns) return value;
        return masked_load(Halide::likely(x < extent(stored_result.space[0])), value);
    }

    // `keeps_addend` says why.
    template<typename Stages>
    Halide::Func kept_operand(const Stages &s, const Halide::GeneratorInput<Halide::Buffer<>> &input) {
        Halide::Func copy("kept");
        copy(s.c, s.x, s.y, s.z, s.b, s.n) = input(s.c, s.x, s.y, s.z, s.b, s.n);
        kept.push_back(copy);
        return copy;
    }

    void copy_first(Halide::Func &copy) const {
        constexpr int lanes = 16;
        const StoredActivation stored = memory_of_result();
        const std::vector<Halide::Var> at = copy.args();
        const std::vector<int64_t> sizes = extents_of(stored);
        for (size_t d = 0; d < at.size(); d++) copy.bound(at[d], 0, extent(sizes[d]));
        copy.compute_root().vectorize(stored.block > 1 ? at[0] : at[1], lanes, Halide::TailStrategy::GuardWithIf);
    }

    template<typename Stages>
    void scatter(Stages *s) {
        const ConvLoops &l = this->loops;
        gathered.bound(s->c, 0, extent(l.group_panels ? l.group_outputs() : l.output_channels))
            .bound(s->b, 0, extent(l.group_panels ? l.groups : 1))
            .bound(s->x, 0, extent(l.output[0]))
            .bound(s->y, 0, extent(l.output[1]))
            .bound(s->z, 0, extent(l.output[2]))
            .bound(s->n, 0, extent(l.batch));
        s->output = gathered, s->scattered = *output, s->scattered_block = l.stored_result.block;
    }

    QuantizedAddition addition(const Expr &addend) const {
        QuantizedAddition a{.addend = addend,
                            .addend_zero_point = number_of(Role::addend_zero_point, 0),
                            .zero_point = number_of(Role::addition_zero_point, 0),
                            .smallest = number_of(Role::addition_bounds, 0),
                            .largest = number_of(Role::addition_bounds, 1)};
        for (int i = 0; i < 3; i++) {
            a.multiplier[i] = number_of(Role::addition_multiplier, i);
            a.shift[i] = number_of(Role::addition_shift, i);
            a.factors[i] = number_of(Role::addition_factors, i);
        }
        return a;
    }

    // Panels of a group want its channels apart from others': then block b is group b, though all channels of a pixel
    // are neighbours.
    bool stores_groups() const { return this->loops.group_panels && !this->loops.scatters(); }

    StoredActivation memory_of_result() const {
        StoredActivation stored = stored_result;
        if (stores_groups()) stored.block = this->loops.group_outputs();
        return stored;
    }

    template<typename BufferParameter>
    void fix_result(BufferParameter &buffer) const {
        fix_activation(buffer, memory_of_result());
        if (!stores_groups()) return;
        buffer.dim(4).set_stride(extent(this->loops.group_outputs()));
        int64_t stride = this->loops.output_channels;
        for (int d : {1, 2, 3, 5}) {
            buffer.dim(d).set_stride(extent(stride));
            if (d < 4) stride *= this->loops.output[d - 1];
        }
    }

protected:
    // Undefined where the workload has no such operand.
    Expr number_of(Role role, const Expr &at) const {
        const auto input = quantization.find(role);
        return input == quantization.end() ? Expr() : (*input->second)(at);
    }

    // `of_channel(role)`: what a result's channel has of it.
    template<typename OfChannel>
    Requantization requantization(const OfChannel &of_channel) const {
        return {of_channel(Role::multiplier),      of_channel(Role::shift),
                of_channel(Role::scale),           number_of(Role::output_zero_point, 0),
                number_of(Role::result_bounds, 0), number_of(Role::result_bounds, 1)};
    }

    // A stage between the sum and the result.
    template<typename Stages>
    Expr staged_number(const Stages &s, const char *name, const Expr &number) {
        Halide::Func stage(name);
        stage(s.c, s.x, s.y, s.z, s.b, s.n) = number;
        numbers.push_back(stage);
        return stage(s.c, s.x, s.y, s.z, s.b, s.n);
    }

    Halide::GeneratorOutput<Halide::Buffer<>> *output = nullptr;  // c in block, x, y, z, block, n
    // How memory has the result: as the loops say, where a generator does not see the same elements in another way.
    StoredActivation stored_result;
    std::map<EpilogueStep::Kind, Halide::GeneratorInput<Halide::Buffer<>> *> step_inputs;
    std::map<Role, Halide::GeneratorInput<Halide::Buffer<>> *> quantization;
    Halide::Func gathered{"gathered"};
    std::vector<Halide::Func> numbers;  // stages between the sum and the result, as the output's variables count
    // Copies of what the epilogue adds, made first. A kernel may be told to write its result over the tensor that it adds. Where
    // `keeps_addend` holds, it computes some results a second time, when the first lie there.
    bool keeps_addend = false;
    std::vector<Halide::Func> kept;
    // Vectors of the output may reach behind the last channel, or the last column; their stores are masked.
    bool masks_channels = false, masks_columns = false;
    // Whether the epilogue's first addition is rounded for itself. LLVM joins it to an unrolled sum otherwise and reorders all addends,
    // and then sums of many taps have no room in the registers. For sums that are functions of their own: a sum that is written out
    // would lose its fused multiply-adds.
    bool sums_are_apart = false;
};

}  // namespace kiln
