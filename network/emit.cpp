#include "network/emit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/convolution_inputs.h"
#include "graph/evaluate/evaluate.h"
#include "graph/memory/memory_plan.h"
#include "network/axis_order.h"
#include "network/input_split.h"
#include "network/joining/join_steps.h"
#include "network/joining/unused_memory.h"
#include "network/layouts.h"
#include "network/node_nests.h"
#include "network/prepare.h"
#include "network/stored_constant.h"
#include "network/stored_types.h"
#include "workload/quantization/quantization.h"
#include "workload/signature.h"

namespace kiln::network {
namespace {

using namespace graph;

class Emission {
public:
    Emission(const StoredGraph &stored, const MemoryPlan &plan)
        : graph_(stored.graph), storages_(stored.storages), plan_(plan), makers_(stored.graph.values.size()) {
        program_.name = graph_.name;
        program_.workspace = plan.workspace;
        program_.workspace_lower_bound = plan.lower_bound;
        for (const ValueId id : graph_.inputs) program_.inputs.push_back({value(id).name, stored_form(id)});
        for (const Output &output : graph_.outputs) {
            program_.outputs.push_back({output.name, stored_form(output.value)});
        }
    }

    Result<Program> run() {
        for (const int index : plan_.order) {
            node_ = &graph_.nodes[index];
            if (bytes(node_->output) == 0) continue;
            const Status status = std::visit([&](const auto &op) { return visit(op); }, node_->op);
            if (!status) note(status.error().message);
        }
        for (const int index : plan_.copied_outputs) {
            const ValueId id = graph_.outputs[index].value;
            if (bytes(id) == 0) continue;
            copy({.from = place(id), .to = {Place::Memory::output, index, 0}, .row_bytes = bytes(id)}, id, id,
                 graph_.outputs[index].name, {});
        }
        if (!problems_.empty()) return unsupported(problems_);
        return std::move(program_);
    }

private:
    const Value &value(ValueId id) const { return graph_.values[id]; }
    const Shape &shape(ValueId id) const { return value(id).form.shape; }
    int64_t bytes(ValueId id) const { return storages_[id].bytes; }
    Stored stored(ValueId id) const { return {&value(id).form, &storages_[id]}; }

    // As a dense array: its own shape where it is row-major.
    TypedShape stored_form(ValueId id) const {
        const Order &order = storages_[id].order;
        if (lie_alike(order, row_major(shape(id).size()), shape(id))) return value(id).form;
        TypedShape form{value(id).form.type, {}};
        for (const MemoryLoop &loop : memory_loops(shape(id), order)) form.shape.push_back(loop.extent);
        return form;
    }

    // A constant is numbered when something reads it first.
    Place place(ValueId id) {
        Place result = plan_.places[id];
        if (result.memory != Place::Memory::constant) return result;
        const auto [known, is_new] = constants_.emplace(result.index, static_cast<int>(program_.constants.size()));
        if (is_new) {
            const Value &whole = value(result.index);
            program_.constants.push_back({whole.name, as_stored(whole, storages_[result.index])});
        }
        result.index = known->second;
        return result;
    }

    std::string name_of_node() const {
        return node_->origins.empty() ? value(node_->output).name : node_->origins.front();
    }

    void note(const std::string &why) {
        const std::string line = "node '" + name_of_node() + "' (" + std::string(graph::name(node_->op)) + "): " + why;
        if (!noted_.insert(line).second) return;
        problems_ += (problems_.empty() ? "" : "\n") + line;
    }

    // Bytes of one value that become bytes of another.
    void copy(Copy work, ValueId from, ValueId to, std::string name, std::vector<std::string> origins) {
        if (work.from == work.to) {
            makers_[to].insert(makers_[from].begin(), makers_[from].end());
            return;
        }
        // Rows that follow each other on both sides are one.
        if (work.from_pitch == work.row_bytes && work.to_pitch == work.row_bytes) {
            work.row_bytes *= work.rows;
            work.rows = 1;
        }
        if (work.rows == 1) work.from_pitch = work.to_pitch = work.row_bytes;
        add({std::move(name), std::move(origins), std::move(work)}, {from}, to);
    }

    // A step that reads values and computes one, or a part of it.
    void add(Step step, const std::vector<ValueId> &from, ValueId to) {
        std::set<int> reads;
        for (const ValueId id : from) reads.insert(makers_[id].begin(), makers_[id].end());
        step.reads.assign(reads.begin(), reads.end());
        step.result_bytes = bytes(to);
        if (shape(to).size() > 2) step.layout = kiln::name(layout_of(storages_[to].order, shape(to)));
        makers_[to].insert(int(program_.steps.size()));
        program_.steps.push_back(std::move(step));
    }

    void call(Workload workload, std::vector<Place> operands) {
        add({name_of_node(), node_->origins,
             KernelCall{std::move(workload), std::move(operands), place(node_->output)}},
            node_->inputs, node_->output);
    }

    Status visit(const Convolution &op) {
        const std::vector<ValueId> &inputs = node_->inputs;
        Result<Workload> workload = workload_in(op, value(inputs[0]).form, value(inputs[1]).form,
                                                storages_[inputs[0]].order, storages_[node_->output].order);
        if (!workload) return unsupported(workload.error().message);
        const Element type = value(inputs[0]).form.type;
        if (type != Element::f32 && !is_quantized(value(inputs[0]).form.type))
            return unsupported("of " + type_of(inputs[0]));
        // The roles of further operands follow each other as in the signature, whatever the order of the epilogue's steps.
        std::vector<Place> operands{place(inputs[0]), place(inputs[1])};
        size_t next = 2;
        std::map<Role, Place> taken;
        for (const ConvolutionInput &input : further_inputs(op, value(inputs[0]).form, shape(node_->output))) {
            const ValueId id = inputs[next++];
            if (Status s = check_range(*workload, input, id); !s) return s;
            if (!taken.emplace(input.role, place(id)).second) {
                return unsupported("with an epilogue that has `" + std::string(input.name) + "` twice");
            }
        }
        for (const auto &[role, where] : taken) operands.push_back(where);
        call(std::move(*workload), std::move(operands));
        return {};
    }

    static Status check_floats(const ConvolutionInput &input, const std::vector<double> &numbers) {
        for (const double number : numbers) {
            const bool is_scale = input.role == Role::scale;
            if (is_scale ? number >= 0 && std::isfinite(number) : std::abs(number) <= largest_addition_factor) continue;
            return unsupported("its " + std::string(input.name) + " has the value " + std::to_string(number) +
                               (is_scale ? "; needs finite numbers from 0 on" : "; needs numbers from -2^64 to 2^64"));
        }
        return {};
    }

    // Values that are known now. What comes when the network runs is not looked at: casts have made most of it, and docs/quantization.md
    // says what a bias may be.
    Status check_range(const Workload &workload, const ConvolutionInput &input, ValueId id) const {
        if (!value(id).constant) return {};
        const Numbers numbers = from_constant(value(id).form, *value(id).constant);
        if (input.role == Role::scale || input.role == Role::addition_factors)
            return check_floats(input, std::get<std::vector<double>>(numbers.elements));
        const auto range = value_range(workload, input.role);
        if (!range || is_float(value(id).form.type)) return {};
        for (const int64_t number : std::get<std::vector<int64_t>>(numbers.elements)) {
            if (number >= range->lo && number <= range->hi) continue;
            return unsupported("its " + std::string(input.name) + " has the value " + std::to_string(number) +
                               "; needs " + std::to_string(range->lo) + " to " + std::to_string(range->hi));
        }
        return {};
    }

    // Integers of 64 bits that are only moved stay what they are.
    bool is_moved(const Operator &op, ValueId id) const {
        const bool takes_elements = std::holds_alternative<Gather>(op) && id != node_->inputs[1];
        const bool moves = std::holds_alternative<Transpose>(op) || std::holds_alternative<Resample>(op);
        return value(id).form.type == Element::i64 && (moves || takes_elements);
    }

    // Inputs of the network may be conditions, floats of 16 bits and integers of 64 bits, which element-wise nodes make floats and i32 of.
    bool is_read(const Operator &op, ValueId id) const {
        const Element type = value(id).form.type;
        const bool is_input = plan_.places[id].memory == Place::Memory::input;
        const bool is_made = is_input && (type == Element::boolean || type == Element::i64 || is_narrow_float(type));
        return lies_between_kernels(type) || (is_made && std::holds_alternative<Elementwise>(op));
    }

    // Outputs of the network have more types than what lies between kernels.
    static bool is_written(const Operator &op, Element type) {
        const bool is_output =
            type == Element::boolean || type == Element::i64 || type == Element::u64 || is_narrow_float(type);
        return lies_between_kernels(type) || (is_output && std::holds_alternative<Elementwise>(op));
    }

    // With the way out where there is one.
    std::string type_of(ValueId id) const {
        const Element type = value(id).form.type;
        return std::string(name(type)) + (is_float(type)
                                              ? ", but networks compute with f32: export the model in float32"
                                              : ", but networks compute with f32, i32, i8 and u8");
    }

    template<typename Op>
    Status visit(const Op &op) {
        StoredNode node{{}, stored(node_->output)};
        for (const ValueId id : node_->inputs) node.inputs.push_back(stored(id));
        for (const ValueId id : node_->inputs) {
            if (!is_read(op, id) && !is_moved(op, id)) return unsupported("of " + type_of(id));
        }
        if (!is_written(op, value(node_->output).form.type) && !is_moved(op, node_->output))
            return unsupported("with a result of " + type_of(node_->output));
        Result<NodeNest> made = nest_of(op, node);
        if (!made) return unsupported(made.error().message);
        return call(nest_workload(made->nest), *made);
    }

    // Nests compute in f32; a workload says in which type its tensors lie in memory.
    Status visit(const Elementwise &op) {
        const ValueId x = node_->inputs.empty() ? node_->output : node_->inputs[0], y = node_->output;
        const Element from = value(x).form.type, to = value(y).form.type;
        if (!is_narrow_float(from) && !is_narrow_float(to)) return visit<Elementwise>(op);
        if (op.expression != scalar::cast(scalar::operand(0), to) || !is_read(op, x))
            return unsupported("of " + type_of(is_narrow_float(from) ? x : y));
        const TypedShape x_floats{Element::f32, shape(x)}, y_floats{Element::f32, shape(y)};
        Result<NodeNest> made = nest_of(Elementwise{scalar::operand(0), op.shape},
                                        StoredNode{{{&x_floats, &storages_[x]}}, {&y_floats, &storages_[y]}});
        if (!made) return unsupported(made.error().message);
        Workload workload = nest_workload(made->nest);
        workload.dtype = dtype_of_floats(from), workload.output_dtype = dtype_of_floats(to);
        return call(std::move(workload), *made);
    }

    static DType dtype_of_floats(Element type) {
        return type == Element::f16 ? DType::f16 : type == Element::bf16 ? DType::bf16 : DType::f32;
    }

    Status call(Workload workload, const NodeNest &made) {
        if (Status status = validate(workload); !status) return unsupported(status.error().message);
        std::vector<Place> operands;
        for (const NestSource &source : made.sources) {
            operands.push_back(std::holds_alternative<size_t>(source) ? place(node_->inputs[std::get<size_t>(source)])
                                                                      : own_constant(std::get<NestConstant>(source)));
        }
        call(std::move(workload), std::move(operands));
        return {};
    }

    Place own_constant(const NestConstant &constant) {
        program_.constants.push_back({name_of_node(), constant.data});
        return {Place::Memory::constant, static_cast<int>(program_.constants.size()) - 1, 0};
    }

    // Whether the result has the bytes of its input; they are copied where they must lie elsewhere.
    bool is_view() {
        const ValueId x = node_->inputs[0], y = node_->output;
        std::optional<int64_t> offset = offset_of_part(node_->op, stored(x), stored(y));
        if (keeps_bytes(node_->op, stored(x), stored(y))) offset = 0;
        if (!offset) return false;
        Place from = place(x);
        from.offset += *offset;
        copy({.from = from, .to = place(y), .row_bytes = bytes(y)}, x, y, name_of_node(), node_->origins);
        return true;
    }

    Status visit(const Reshape &) { return is_view() ? Status() : unsupported("of bytes in another order"); }
    Status visit(const Transpose &op) { return is_view() ? Status() : visit<Transpose>(op); }
    Status visit(const Resample &op) { return is_view() ? Status() : visit<Resample>(op); }

    // Each input is rows of the result, from the concatenated axis on inward.
    Status visit(const Concat &op) {
        const ValueId y = node_->output;
        int64_t rows = 1;
        for (const MemoryLoop &loop : memory_loops(shape(y), storages_[y].order)) {
            if (loop.axis == op.axis) break;
            rows *= loop.extent;
        }
        int64_t offset = 0;
        for (const ValueId x : node_->inputs) {
            if (bytes(x) == 0) continue;
            Copy part{.from = place(x), .to = place(y), .rows = rows, .row_bytes = bytes(x) / rows};
            part.to.offset += offset;
            part.from_pitch = part.row_bytes;
            part.to_pitch = bytes(y) / rows;
            offset += part.row_bytes;
            copy(std::move(part), x, y, name_of_node(), node_->origins);
        }
        return {};
    }

    Status visit(const Normalize &) { return unsupported("was not expanded"); }

    const Graph &graph_;
    const std::vector<Storage> &storages_;
    const MemoryPlan &plan_;
    const Node *node_ = nullptr;
    Program program_;
    std::map<int, int> constants_;       // by value: its number in the program
    std::vector<std::set<int>> makers_;  // by value: the steps that compute its bytes
    std::set<std::string> noted_;
    std::string problems_;
};

}  // namespace

Graph prepared(const Graph &graph) {
    return expand_normalizations(store_as_floats(split_resamples(fold_without_operands(fold_empty_values(graph)))));
}

namespace {

Result<Program> program_of(const StoredGraph &stored, const LayoutPrices &prices) {
    const MemoryNeeds needs{stored.storages, {}};
    const MemoryPlan plan = plan_memory(stored.graph, needs);
    if (Status status = check_plan(stored.graph, needs, plan); !status) {
        return Error{ErrorCode::unsupported,
                     "the memory plan is wrong, which is a fault of kiln: " + status.error().message};
    }
    Result<Program> program = Emission(stored, plan).run();
    if (!program) return program;
    program->layouts = stored.summary;
    join_steps({prices.times, prices.unmeasured == Unmeasured::as_fast}, &*program);
    leave_out_unused_memory(&*program);
    return program;
}

}  // namespace

Result<Program> emit(const Graph &graph, const LayoutPrices &prices) {
    return program_of(choose_layouts(prepared(graph), prices), prices);
}

Result<SplitProgram> emit_split(const Graph &graph, const LayoutPrices &prices) {
    const InputSplit split = split_at_input(choose_layouts(prepared(graph), prices));
    Result<Program> preparation = program_of(split.preparation, prices);
    Result<Program> network = program_of(split.network, prices);
    if (!network) return network.error();
    if (!preparation) return preparation.error();
    return SplitProgram{std::move(*preparation), std::move(*network)};
}

}  // namespace kiln::network
