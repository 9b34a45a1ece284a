#include "graph/memory/buffers.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

namespace kiln::graph {
namespace {

using Memory = Place::Memory;

// A buffer while values still join it.
struct Growing {
    Memory memory = Memory::workspace;
    int index = 0;  // of the input, output or constant
    int64_t bytes = 0;
    std::vector<ValueId> values;
};

class Joining {
public:
    Joining(const Graph &graph, const MemoryNeeds &needs, const std::vector<int> &order, bool join_concats)
        : graph_(graph),
          needs_(needs),
          order_(order),
          join_concats_(join_concats),
          buffers_(graph.values.size()),
          parts_(graph.values.size()) {
        const int end = static_cast<int>(order.size());
        first_.assign(graph.values.size(), 0);
        last_.assign(graph.values.size(), -1);
        for (int step = 0; step < end; step++) {
            const Node &node = graph.nodes[order[step]];
            first_[node.output] = step;
            last_[node.output] = std::max(last_[node.output], step);
            for (ValueId id : node.inputs) last_[id] = step;
        }
        for (const Output &output : graph.outputs) last_[output.value] = end;
        for (const Node &node : graph.nodes) keep_for_reader(node);
        for (size_t id = 0; id < graph.values.size(); id++) {
            const auto value = static_cast<ValueId>(id);
            buffers_[id] = {Memory::workspace, 0, needs.storages[id].bytes, {value}};
            parts_[id] = {value, 0};
            if (graph.values[id].constant) buffers_[id].memory = Memory::constant, buffers_[id].index = value;
        }
        for (size_t i = 0; i < graph.inputs.size(); i++) fix(graph.inputs[i], Memory::input, i);
        for (size_t i = 0; i < graph.outputs.size(); i++) {
            const ValueId id = graph.outputs[i].value;
            if (buffers_[id].memory == Memory::workspace) fix(id, Memory::output, i);
        }
        for (int step = 0; step < end; step++) join(graph.nodes[order[step]], step);
    }

    Buffers finish() const {
        Buffers result;
        std::map<ValueId, int> index;  // in the workspace, by buffer
        for (const auto &[buffer, offset] : parts_) {
            const Growing &growing = buffers_[buffer];
            Part part{growing.memory, growing.index, offset};
            if (growing.memory == Memory::workspace) {
                const auto [known, is_new] = index.emplace(buffer, static_cast<int>(result.workspace.size()));
                if (is_new) result.workspace.push_back(alive(growing));
                part.index = known->second;
            }
            result.parts.push_back(part);
        }
        result.scratch.assign(graph_.nodes.size(), -1);
        for (size_t step = 0; step < order_.size() && !needs_.scratch.empty(); step++) {
            const int64_t bytes = needs_.scratch[order_[step]];
            if (bytes == 0) continue;
            result.scratch[order_[step]] = static_cast<int>(result.workspace.size());
            result.workspace.push_back({bytes, static_cast<int>(step), static_cast<int>(step)});
        }
        for (size_t i = 0; i < graph_.outputs.size(); i++) {
            const Growing &growing = buffers_[parts_[graph_.outputs[i].value].buffer];
            if (growing.memory == Memory::output && growing.index == static_cast<int>(i)) continue;
            result.copied_outputs.push_back(static_cast<int>(i));
        }
        return result;
    }

private:
    struct InBuffer {
        ValueId buffer = 0;  // named after the value that it was made for
        int64_t offset = 0;
    };

    void fix(ValueId id, Memory memory, size_t index) {
        buffers_[id].memory = memory;
        buffers_[id].index = static_cast<int>(index);
    }

    Stored stored(ValueId id) const { return {&graph_.values[id].form, &needs_.storages[id]}; }
    int64_t bytes(ValueId id) const { return needs_.storages[id].bytes; }
    bool is_alone(ValueId id) const {  // nothing else was put into its buffer
        return parts_[id].buffer == id && buffers_[id].values.size() == 1;
    }

    Buffer alive(const Growing &growing) const {
        Buffer buffer{growing.bytes, static_cast<int>(order_.size()), 0};
        for (ValueId id : growing.values) {
            buffer.first = std::min(buffer.first, first_[id]);
            buffer.last = std::max(buffer.last, last_[id]);
        }
        return buffer;
    }

    // An element-wise node that is larger than what it reads, such as a comparison of all with all, may become part of the one node that
    // reads it (network/joining/join_steps.h). What it reads must still lie in memory then.
    void keep_for_reader(const Node &node) {
        if (!std::holds_alternative<Elementwise>(node.op)) return;
        for (ValueId id : node.inputs) {
            if (bytes(id) < bytes(node.output)) last_[id] = std::max(last_[id], last_[node.output]);
        }
    }

    // Puts all values of buffer `from` into buffer `to`.
    void merge(ValueId from, ValueId to, int64_t offset) {
        for (ValueId id : buffers_[from].values) {
            parts_[id] = {to, parts_[id].offset + offset};
            buffers_[to].values.push_back(id);
        }
        buffers_[from].values.clear();
    }

    void join(const Node &node, int step) {
        if (bytes(node.output) == 0) return;
        if (std::holds_alternative<Concat>(node.op)) return join_concat(node);
        if (std::holds_alternative<Elementwise>(node.op) || std::holds_alternative<Convolution>(node.op))
            return write_over_input(node, step);
        if (node.inputs.size() != 1) return;
        const ValueId input = node.inputs[0];
        std::optional<int64_t> offset = offset_of_part(node.op, stored(input), stored(node.output));
        if (keeps_bytes(node.op, stored(input), stored(node.output))) offset = 0;
        if (offset) join_view(node.output, input, *offset);
    }

    // The result is bytes of the input. An output of the graph takes the input into its memory where it can.
    void join_view(ValueId output, ValueId input, int64_t offset) {
        const InBuffer &part = parts_[input];
        if (buffers_[output].memory == Memory::workspace) return merge(output, part.buffer, part.offset + offset);
        const Growing &whole = buffers_[part.buffer];
        if (whole.memory != Memory::workspace || whole.bytes != bytes(output) || part.offset != 0 || offset != 0)
            return;
        merge(part.buffer, output, 0);
    }

    void join_concat(const Node &node) {
        if (!join_concats_) return;
        std::vector<Stored> inputs;
        for (ValueId id : node.inputs) inputs.push_back(stored(id));
        if (!joins_bytes(node.op, inputs, stored(node.output))) return;
        int64_t offset = 0;
        for (ValueId id : node.inputs) {
            const InBuffer part = parts_[id];
            const Growing &whole = buffers_[part.buffer];
            const bool is_whole = part.offset == 0 && whole.bytes == bytes(id) && bytes(id) > 0;
            if (is_whole && whole.memory == Memory::workspace && part.buffer != node.output) {
                merge(part.buffer, node.output, offset);
            }
            offset += bytes(id);
        }
    }

    void write_over_input(const Node &node, int step) {
        for (size_t i = 0; i < node.inputs.size(); i++) {
            const ValueId id = node.inputs[i];
            if (!may_write_over(node, i, stored(node.inputs[0]), stored(id), stored(node.output)) ||
                !may_be_overwritten(id, node, step))
                continue;
            const InBuffer part = parts_[id];
            if (buffers_[node.output].memory == Memory::workspace) {
                return merge(node.output, part.buffer, part.offset);
            }
            if (buffers_[part.buffer].memory != Memory::workspace || buffers_[part.buffer].bytes != bytes(id)) continue;
            return merge(part.buffer, node.output, 0);
        }
    }

    // Whether no value that shares bytes with `id` is needed behind this step, or read in it from other places.
    bool may_be_overwritten(ValueId id, const Node &node, int step) const {
        const InBuffer &part = parts_[id];
        const Growing &whole = buffers_[part.buffer];
        if (whole.memory == Memory::input || whole.memory == Memory::constant) return false;
        for (ValueId other : whole.values) {
            const int64_t begin = parts_[other].offset;
            if (begin >= part.offset + bytes(id) || part.offset >= begin + bytes(other) || bytes(other) == 0) continue;
            if (last_[other] > step) return false;
            if (other != id && std::ranges::count(node.inputs, other) > 0) return false;
        }
        return true;
    }

    const Graph &graph_;
    const MemoryNeeds &needs_;
    const std::vector<int> &order_;
    const bool join_concats_;
    std::vector<Growing> buffers_;   // by the value that each was made for
    std::vector<InBuffer> parts_;    // by value
    std::vector<int> first_, last_;  // by value: steps
};

}  // namespace

int64_t aligned(int64_t bytes) { return (bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment; }

Buffers make_buffers(const Graph &graph, const MemoryNeeds &needs, const std::vector<int> &order, bool join_concats) {
    return Joining(graph, needs, order, join_concats).finish();
}

int64_t largest_sum(const std::vector<Buffer> &buffers) {
    std::map<int, int64_t> changes;  // by step
    for (const Buffer &buffer : buffers) {
        changes[buffer.first] += aligned(buffer.bytes);
        changes[buffer.last + 1] -= aligned(buffer.bytes);
    }
    int64_t now = 0, largest = 0;
    for (const auto &[step, change] : changes) largest = std::max(largest, now += change);
    return largest;
}

}  // namespace kiln::graph
