#include "generators/loop_nest.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace kiln {
namespace {

using namespace Halide;
using namespace Halide::Internal;

using Stages = std::map<std::string, Function>;

// Halide's own passes, as far as loops still are what the schedule calls them.
Stmt bounded_loops(const Pipeline &pipeline, const Target &target, Stages *stages) {
    std::vector<Function> roots;
    for (const Func &output : pipeline.outputs()) roots.push_back(output.function());
    auto [outputs, all] = deep_copy(roots, build_environment(roots));
    for (const Function &output : outputs) Func(output).compute_root().store_root();
    for (auto &[name, stage] : all) stage.lock_loop_levels();
    *stages = wrap_func_calls(all);
    const auto [order, groups] = realization_order(outputs, *stages);
    bool any_memoized = false;
    Stmt s = schedule_functions(outputs, groups, *stages, target, any_memoized);
    const FuncValueBounds values = compute_function_value_bounds(order, *stages);
    s = bounds_inference(s, outputs, order, groups, *stages, values, target);
    s = sliding_window(s, *stages);
    s = simplify(uniquify_variable_names(s), false);
    s = simplify_correlated_differences(s);
    s = allocation_bounds_inference(s, *stages, values);
    s = add_image_checks(s, outputs, target, order, *stages, values, false);
    s = storage_folding(remove_undef(s), *stages);
    s = bound_small_allocations(simplify_correlated_differences(s));
    return simplify(s);
}

// Without "$3", which counts how often a name was used.
std::string plain_name(const std::string &name) {
    static const std::regex count("\\$[0-9]+");
    return std::regex_replace(name, count, "");
}

// "x_tile" of the loop "output.s0.x.x_tile".
std::string loop_name(const std::string &name) { return plain_name(name.substr(name.rfind('.') + 1)); }

// Stages, variables and reductions without a name have a letter and how many there were before, in other functions,
// too: here they are counted among those of the text.
std::string with_own_numbers(const std::string &text) {
    static const std::regex unnamed("\\b([fvr])([0-9]+)(?![0-9A-Za-z])");
    std::set<std::pair<char, int>> seen;
    const std::sregex_iterator first(text.begin(), text.end(), unnamed), last;
    for (auto i = first; i != last; ++i) seen.emplace(*(*i)[1].first, std::stoi((*i)[2]));
    std::string numbered;
    auto rest = text.begin();
    for (auto i = first; i != last; ++i) {
        const char letter = *(*i)[1].first;
        const auto rank = std::distance(seen.lower_bound({letter, 0}), seen.find({letter, std::stoi((*i)[2])}));
        numbered.append(rest, (*i)[0].first).append(1, letter).append(std::to_string(rank));
        rest = (*i)[0].second;
    }
    return numbered.append(rest, text.end());
}

const char *kind(ForType type) {
    switch (type) {
        case ForType::Parallel:
            return "parallel";
        case ForType::Vectorized:
            return "vectorized";
        case ForType::Unrolled:
            return "unrolled";
        default:
            return "for";
    }
}

const char *place(MemoryType type) {
    switch (type) {
        case MemoryType::Auto:
            return "";
        case MemoryType::Stack:
            return " in Stack";
        case MemoryType::Register:
            return " in Register";
        default:
            return " elsewhere";
    }
}

// Stages, buffers and functions outside of Halide that an expression reads or calls.
class Reads : public IRGraphVisitor {
public:
    std::set<std::string> names;

private:
    using IRGraphVisitor::visit;
    void visit(const Call *call) override {
        const bool named = call->call_type == Call::Halide || call->call_type == Call::Image ||
                           call->call_type == Call::Extern || call->is_intrinsic(Call::prefetch);
        if (named) names.insert(plain_name(call->name));
        IRGraphVisitor::visit(call);
    }
    void visit(const Variable *variable) override {  // memory that is handed on
        if (variable->type.is_handle()) names.insert(plain_name(variable->name));
    }
};

std::string reads(const std::vector<Expr> &expressions) {
    Reads found;
    for (const Expr &e : expressions) e.accept(&found);
    std::string list;
    for (const std::string &name : found.names) list += (list.empty() ? "" : ", ") + name;
    return list;
}

class LoopPrinter : public IRVisitor {
public:
    explicit LoopPrinter(const Stages &stages) : stages_(stages) {}

    std::string text() const { return text_.str(); }

private:
    using IRVisitor::visit;

    void visit(const Realize *op) override {
        std::string extents;
        for (const Range &range : op->bounds) extents += (extents.empty() ? "" : ", ") + count(range.extent);
        line("realize " + plain_name(op->name) + "[" + extents + "]" + place(op->memory_type) +
             storage_order(op->name));
        inside(op->body);
    }

    void visit(const ProducerConsumer *op) override {
        // What consumes a stage is known by what it reads.
        if (!op->is_producer) return op->body.accept(this);
        line("produce " + plain_name(op->name));
        inside(op->body);
    }

    void visit(const For *op) override {
        std::string loop = std::string(kind(op->for_type)) + " " + loop_name(op->name) + " " + count(op->extent);
        if (op->partition_policy == Partition::Never) loop += " unpartitioned";
        line(loop);
        const Interval first = bounds_of_expr_in_scope(op->min, scope_),
                       extent = bounds_of_expr_in_scope(op->extent, scope_);
        Interval values = Interval::everything();
        if (first.has_lower_bound()) values.min = first.min;
        if (first.has_upper_bound() && extent.has_upper_bound()) values.max = simplify(first.max + extent.max - 1);
        const ScopedBinding<Interval> bind(scope_, op->name, values);
        inside(op->body);
    }

    void visit(const LetStmt *op) override {
        const ScopedBinding<Interval> bind(scope_, op->name, bounds_of_expr_in_scope(op->value, scope_));
        op->body.accept(this);
    }

    void visit(const IfThenElse *op) override {
        const std::string asked = reads({op->condition});
        // Several guards after each other are as good as one.
        const bool guards_guard = op->then_case.as<IfThenElse>() && !op->else_case.defined();
        if (guards_guard && asked.empty()) return op->then_case.accept(this);
        line(asked.empty() ? "if" : "if " + asked);
        inside(op->then_case);
        if (!op->else_case.defined()) return;
        line("else");
        inside(op->else_case);
    }

    void visit(const Prefetch *op) override {
        line("prefetch " + plain_name(op->name) + " for " + loop_name(op->prefetch.from) + " + " +
             count(op->prefetch.offset));
        op->body.accept(this);
    }

    void visit(const Provide *op) override {
        std::vector<Expr> all = op->values;
        all.insert(all.end(), op->args.begin(), op->args.end());
        const std::string read = reads(all);
        line(plain_name(op->name) + " = " + (read.empty() ? "constant" : read));
    }

    // A constant, or the most that it can be.
    std::string count(const Expr &e) const {
        if (const auto constant = as_const_int(e)) return std::to_string(*constant);
        const Expr most = find_constant_bound(e, Direction::Upper, scope_);
        const auto bound = most.defined() ? as_const_int(most) : std::nullopt;
        return bound ? "<= " + std::to_string(*bound) : "?";
    }

    // Dimensions in memory, where these are not in the order of the arguments.
    std::string storage_order(const std::string &name) const {
        const auto stage = stages_.find(name);
        if (stage == stages_.end()) return "";
        std::string order;
        bool moved = false;
        const auto &dims = stage->second.schedule().storage_dims();
        for (size_t d = 0; d < dims.size(); d++) {
            moved |= dims[d].var != stage->second.args()[d];
            order += " " + plain_name(dims[d].var);
        }
        return moved ? ", stored as" + order : "";
    }

    void line(const std::string &what) { text_ << std::string(depth_, ' ') << what << '\n'; }
    void inside(const Stmt &body) {
        depth_++;
        body.accept(this);
        depth_--;
    }

    const Stages &stages_;
    Scope<Interval> scope_;
    std::ostringstream text_;
    size_t depth_ = 1;
};

}  // namespace

std::string loop_nest(const Pipeline &pipeline, const Target &target) {
    Stages stages;
    const Stmt loops = bounded_loops(pipeline, target, &stages);
    LoopPrinter printer(stages);
    loops.accept(&printer);
    return with_own_numbers(printer.text());
}

}  // namespace kiln
