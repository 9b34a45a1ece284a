// Follows what every byte of every memory holds. What a value consists of is a list of runs of bytes that some node made: a
// view of a value consists of that value's bytes, so it may lie on them, and nothing else may.
#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>

#include "graph/memory/memory_plan.h"

namespace kiln::graph {
namespace {

struct Run {
    ValueId maker = 0;   // the value that these bytes were computed as
    int64_t offset = 0;  // in it
    int64_t bytes = 0;
};

// One memory: runs by their first byte, without overlaps.
class Bytes {
public:
    void write(int64_t begin, const std::vector<Run> &runs) {
        for (const Run &run : runs) {
            clear(begin, begin + run.bytes);
            if (run.bytes > 0) runs_[begin] = run;
            begin += run.bytes;
        }
    }

    void clear(int64_t begin, int64_t end) {
        cut(begin);
        cut(end);
        runs_.erase(runs_.lower_bound(begin), runs_.lower_bound(end));
    }

    bool holds(int64_t begin, const std::vector<Run> &runs) {
        return std::ranges::all_of(runs, [&](const Run &run) {
            const bool is_held = holds(begin, run);
            begin += run.bytes;
            return is_held;
        });
    }

private:
    bool holds(int64_t begin, Run run) {
        while (run.bytes > 0) {
            auto found = runs_.upper_bound(begin);
            if (found == runs_.begin()) return false;
            --found;
            const auto &[at, held] = *found;
            const int64_t inside = begin - at, here = std::min(run.bytes, held.bytes - inside);
            if (here <= 0 || held.maker != run.maker || held.offset + inside != run.offset) return false;
            begin += here, run.offset += here, run.bytes -= here;
        }
        return true;
    }

    void cut(int64_t at) {
        auto found = runs_.lower_bound(at);
        if (found == runs_.begin()) return;
        --found;
        auto &[begin, run] = *found;
        if (begin + run.bytes <= at) return;
        const Run rest{run.maker, run.offset + at - begin, begin + run.bytes - at};
        run.bytes = at - begin;
        runs_[at] = rest;
    }

    std::map<int64_t, Run> runs_;
};

class Follower {
public:
    Follower(const Graph &graph, const MemoryNeeds &needs, const MemoryPlan &plan)
        : graph_(graph), needs_(needs), plan_(plan), contents_(graph.values.size()), is_known_(graph.values.size()) {}

    Status run() {
        if (plan_.places.size() != graph_.values.size() || plan_.order.size() != graph_.nodes.size() ||
            plan_.scratch.size() != graph_.nodes.size()) {
            return bad_input("a plan of another graph");
        }
        for (size_t id = 0; id < graph_.values.size(); id++) {
            const auto value = static_cast<ValueId>(id);
            contents_[id] = {{value, 0, bytes(value)}};
            if (graph_.values[id].constant) define(value);
        }
        for (ValueId id : graph_.inputs) define(id);
        for (int index : plan_.order) {
            if (index < 0 || static_cast<size_t>(index) >= graph_.nodes.size()) return bad_input("no such node");
            if (Status s = node(index); !s) return s;
        }
        return outputs();
    }

private:
    int64_t bytes(ValueId id) const { return needs_.storages[id].bytes; }
    int64_t offset(ValueId id) const { return plan_.places[id].offset; }
    Stored stored(ValueId id) const { return {&graph_.values[id].form, &needs_.storages[id]}; }
    Error wrong(ValueId id, const std::string &what) const {
        return bad_input("memory plan: `" + graph_.values[id].name + "` " + what);
    }

    Bytes &memory_of(ValueId id) {
        const Place &place = plan_.places[id];
        return memories_[{place.memory, place.memory == Place::Memory::workspace ? 0 : place.index}];
    }
    bool are_in_one_memory(ValueId a, ValueId b) const {
        const Place &p = plan_.places[a], &q = plan_.places[b];
        return p.memory == q.memory && (p.memory == Place::Memory::workspace || p.index == q.index);
    }
    bool is_read_only(ValueId id) const {
        const Place::Memory memory = plan_.places[id].memory;
        return bytes(id) > 0 && (memory == Place::Memory::input || memory == Place::Memory::constant);
    }
    bool overlap(ValueId a, ValueId b) const {
        return are_in_one_memory(a, b) && offset(a) < offset(b) + bytes(b) && offset(b) < offset(a) + bytes(a);
    }

    void define(ValueId id) {
        memory_of(id).write(offset(id), contents_[id]);
        is_known_[id] = true;
    }

    // What the result consists of where it is bytes of the inputs.
    std::optional<std::vector<Run>> bytes_of_inputs(const Node &node) const {
        if (joins(node)) {
            std::vector<Run> runs;
            for (ValueId id : node.inputs) runs.insert(runs.end(), contents_[id].begin(), contents_[id].end());
            return runs;
        }
        if (node.inputs.size() != 1) return {};
        const Stored input = stored(node.inputs[0]), result = stored(node.output);
        if (keeps_bytes(node.op, input, result)) return contents_[node.inputs[0]];
        const auto begin = offset_of_part(node.op, input, result);
        if (!begin) return {};
        return part(contents_[node.inputs[0]], *begin, bytes(node.output));
    }

    static std::vector<Run> part(const std::vector<Run> &runs, int64_t begin, int64_t bytes) {
        std::vector<Run> result;
        for (const Run &run : runs) {
            const int64_t skipped = std::min(begin, run.bytes), taken = std::min(bytes, run.bytes - skipped);
            if (taken > 0) result.push_back({run.maker, run.offset + skipped, taken});
            begin -= skipped, bytes -= taken;
        }
        return result;
    }

    Status node(int index) {
        const Node &node = graph_.nodes[index];
        for (ValueId id : node.inputs) {
            if (!is_known_[id]) return wrong(id, "is read before it is computed");
            if (!memory_of(id).holds(offset(id), contents_[id])) return wrong(id, "is overwritten before it is read");
        }
        if (Status s = inside(node.output); !s) return s;
        if (auto runs = bytes_of_inputs(node)) {
            contents_[node.output] = std::move(*runs);
            if (memory_of(node.output).holds(offset(node.output), contents_[node.output])) {
                is_known_[node.output] = true;
                return {};
            }
        }
        if (is_read_only(node.output)) return wrong(node.output, "lies where nothing may be written");
        if (!is_beside_inputs(node)) return wrong(node.output, "lies on an input");
        if (Status s = scratch(index); !s) return s;
        define(node.output);
        return {};
    }

    // Whether a node destroys none of its inputs while it writes. Some write each element where they read it, and the parts of a
    // concatenation that lie where they belong stay.
    bool is_beside_inputs(const Node &node) const {
        if (std::holds_alternative<Concat>(node.op)) return parts_are_beside_inputs(node);
        for (size_t i = 0; i < node.inputs.size(); i++) {
            const ValueId id = node.inputs[i];
            const bool is_alike = offset(id) == offset(node.output) &&
                                  may_write_over(node, i, stored(node.inputs[0]), stored(id), stored(node.output));
            if (overlap(id, node.output) && !is_alike) return false;
        }
        return true;
    }

    bool parts_are_beside_inputs(const Node &node) const {
        if (std::ranges::none_of(node.inputs, [&](ValueId id) { return overlap(id, node.output); })) return true;
        int64_t begin = offset(node.output);
        for (ValueId part : node.inputs) {
            const bool stays = are_in_one_memory(part, node.output) && offset(part) == begin;
            for (ValueId id : node.inputs) {
                const bool is_hit = are_in_one_memory(id, node.output) && offset(id) < begin + bytes(part) &&
                                    begin < offset(id) + bytes(id);
                if (!stays && is_hit) return false;
            }
            begin += bytes(part);
        }
        return joins(node);
    }

    bool joins(const Node &node) const {
        std::vector<Stored> inputs;
        for (ValueId id : node.inputs) inputs.push_back(stored(id));
        return joins_bytes(node.op, inputs, stored(node.output));
    }

    Status inside(ValueId id) const {
        const Place &place = plan_.places[id];
        const int64_t size = place.memory == Place::Memory::workspace ? plan_.workspace
                             : place.memory == Place::Memory::output  ? bytes(graph_.outputs[place.index].value)
                             : place.memory == Place::Memory::input   ? bytes(graph_.inputs[place.index])
                                                                      : bytes(place.index);
        if (place.offset < 0 || place.offset + bytes(id) > size) return wrong(id, "does not lie inside its memory");
        return {};
    }

    // Nothing that a node writes besides its result may be needed.
    Status scratch(int index) {
        const int64_t size = needs_.scratch.empty() ? 0 : needs_.scratch[index], begin = plan_.scratch[index];
        const Node &node = graph_.nodes[index];
        if (size == 0) return {};
        if (begin < 0 || begin + size > plan_.workspace)
            return wrong(node.output, "has scratch outside of the workspace");
        memories_[{Place::Memory::workspace, 0}].clear(begin, begin + size);
        for (ValueId id : node.inputs) {
            if (!memory_of(id).holds(offset(id), contents_[id])) return wrong(id, "is overwritten by scratch");
        }
        const bool is_beside = plan_.places[node.output].memory != Place::Memory::workspace ||
                               begin >= offset(node.output) + bytes(node.output) || offset(node.output) >= begin + size;
        return is_beside ? Status() : wrong(node.output, "lies on scratch of its node");
    }

    Status outputs() {
        for (size_t i = 0; i < graph_.outputs.size(); i++) {
            const ValueId id = graph_.outputs[i].value;
            if (!is_known_[id]) return wrong(id, "is an output that no node computes");
            if (!memory_of(id).holds(offset(id), contents_[id])) return wrong(id, "is overwritten, but an output");
            const Place there{Place::Memory::output, static_cast<int>(i), 0};
            const bool is_copied = std::ranges::count(plan_.copied_outputs, static_cast<int>(i)) > 0;
            if (plan_.places[id] != there && !is_copied) return wrong(id, "is an output, but lies elsewhere");
        }
        return {};
    }

    const Graph &graph_;
    const MemoryNeeds &needs_;
    const MemoryPlan &plan_;
    std::vector<std::vector<Run>> contents_;  // by value
    std::vector<bool> is_known_;
    std::map<std::tuple<Place::Memory, int>, Bytes> memories_;
};

}  // namespace

Status check_plan(const Graph &graph, const MemoryNeeds &needs, const MemoryPlan &plan) {
    return Follower(graph, needs, plan).run();
}

}  // namespace kiln::graph
