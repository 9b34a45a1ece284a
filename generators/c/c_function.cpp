#include "generators/c/c_function.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "generators/c/c_allocations.h"
#include "generators/c/c_names.h"
#include "generators/c/c_source.h"

namespace kiln {

using namespace Halide;
using namespace Halide::Internal;

namespace {

constexpr int64_t workspace_alignment = 8;

// The array, behind what is copied into it.
std::string array_parameters(const CForm &form) {
    std::string list;
    for (const CForm::Copy &copy : form.copies) list += "const " + c_type(copy.type) + " *restrict " + copy.name + ", ";
    return list + (form.writes ? "" : "const ") + "int32_t *restrict constants, ";
}

std::string copies(const CForm &form) {
    std::string text;
    for (const CForm::Copy &copy : form.copies) {
        const std::string to = c_type(copy.type) + " *)(constants + " + std::to_string(copy.offset) + ")";
        text += "    for (int32_t i = 0; i < " + std::to_string(copy.elements) + "; i++) ((" + to +
                ")[i] = " + copy.name + "[i];\n";
    }
    return text;
}

// How often an identifier stands in a text.
int words(std::string_view text, std::string_view name) {
    const auto is_part = [&](size_t at) {
        return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
    };
    int count = 0;
    for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
        if (!(at > 0 && is_part(at - 1)) && !is_part(at + name.size())) count++;
    }
    return count;
}

class FunctionPrinter : public IRVisitor {
public:
    FunctionPrinter(const LoweredFunc &function, CPrelude &prelude, const CForm &form)
        : function_(function),
          form_(form),
          body_(lower_intrinsics(function.body)),
          context_{names_, prelude,
                   [this](const std::string &buffer, const Expr &index) { return element(buffer, index); },
                   [this](const std::string &text) { line(text); }},
          expression_(context_) {}

    CFunction print();

private:
    using IRVisitor::visit;

    void line(const std::string &text) { text_ += std::string(static_cast<size_t>(4 * depth_), ' ') + text + "\n"; }
    std::string value(const Expr &e) { return expression_.text(e); }
    std::string element(const std::string &buffer, const Expr &index);
    // A statement in braces of its own, whose names end with it.
    void block(const Stmt &body) {
        depth_++;
        body.accept(this);
        depth_--;
    }
    std::string parameters();

    void visit(const LetStmt *op) override;
    void visit(const AssertStmt *) override {}  // a kernel's arguments were checked by its caller
    void visit(const ProducerConsumer *op) override { op->body.accept(this); }
    void visit(const For *op) override;
    void visit(const Store *op) override;
    void visit(const Allocate *op) override;
    void visit(const Free *) override {}
    void visit(const Block *op) override;
    void visit(const IfThenElse *op) override;
    void visit(const Evaluate *) override {}
    void visit(const Prefetch *op) override { op->body.accept(this); }
    void visit(const Atomic *op) override { op->body.accept(this); }
    void visit(const Fork *op) override;
    void visit(const Acquire *) override { throw NoCForm{"threads that wait for each other"}; }
    void visit(const HoistedStorage *op) override { op->body.accept(this); }
    void visit(const Provide *) override { throw NoCForm{"a loop that was not lowered"}; }
    void visit(const Realize *) override { throw NoCForm{"a loop that was not lowered"}; }

    const LoweredFunc &function_;
    const CForm &form_;
    Stmt body_;
    CNames names_;
    CContext context_;
    CExpression expression_;
    Bounds bounds_;                                              // of the variables that are visible
    Bounds layer_;                                               // and of sizes, as the layer at hand has them
    std::map<std::string, std::vector<std::string>> variables_;  // the elements of a buffer that is kept in them
    std::string text_;
    int depth_ = 1;
    int64_t workspace_ = 0, most_workspace_ = 0;
    bool is_open_ = false;  // the last temporary in the workspace has a size at run time: nothing can lie behind it
};

std::string FunctionPrinter::element(const std::string &buffer, const Expr &index) {
    const auto kept = variables_.find(buffer);
    if (kept != variables_.end()) return kept->second.at(static_cast<size_t>(*as_const_int(index)));
    const std::string at = value(index);
    return names_.of(buffer) + "[" + at + "]";
}

// Pointers to data are what a kernel reads of a buffer; everything else of it is compiled in.
void FunctionPrinter::visit(const LetStmt *op) {
    const Call *call = op->value.as<Call>();
    if (call && call->name == Call::buffer_get_host) return op->body.accept(this);
    const size_t begin = text_.size();  // a value may need lines of its own
    const std::string initial = value(op->value), name = names_.bind(op->name);
    line("const " + c_type(op->value.type()) + " " + name + " = " + initial + ";");
    const size_t end = text_.size();
    const ScopedBinding<Interval> bound(bounds_, op->name, find_constant_bounds(op->value, bounds_));
    const ScopedBinding<Interval> of_layer(layer_, op->name, find_constant_bounds(op->value, layer_));
    op->body.accept(this);
    // Elements that are kept in variables have no index, and what would have computed it has no reader.
    if (words(std::string_view(text_).substr(end), name) == 0) text_.erase(begin, end - begin);
}

// Parallel loops are loops: there is one core.
void FunctionPrinter::visit(const For *op) {
    if (op->for_type == ForType::Vectorized) throw NoCForm{"a vector"};
    const std::string begin = value(op->min), end = value(simplify(op->min + op->extent)), i = names_.bind(op->name);
    const auto range = [&](const Bounds &bounds) -> Interval {
        const Expr first = find_constant_bound(op->min, Direction::Lower, bounds),
                   last = find_constant_bound(op->min + op->extent - 1, Direction::Upper, bounds);
        return {first.defined() ? first : Interval::neg_inf(), last.defined() ? last : Interval::pos_inf()};
    };
    const ScopedBinding<Interval> bound(bounds_, op->name, range(bounds_));
    const ScopedBinding<Interval> of_layer(layer_, op->name, range(layer_));
    line("for (int32_t " + i + " = " + begin + "; " + i + " < " + end + "; " + i + "++) {");
    block(op->body);
    line("}");
    names_.forget(op->name);
}

void FunctionPrinter::visit(const Store *op) {
    if (!is_const_one(op->predicate)) throw NoCForm{"a masked store"};
    const std::string stored = value(op->value), place = element(op->name, op->index);
    line(place + " = " + stored + ";");
}

void FunctionPrinter::visit(const Allocate *op) {
    if (op->type.is_bool()) throw NoCForm{"a temporary of conditions"};
    const StoredAllocation allocation = storage_of(*op, bounds_, layer_);
    const std::string type = c_type(op->type);
    const int64_t before = workspace_;
    const bool was_open = is_open_;
    if (allocation.storage == Storage::variables) {
        auto &elements = variables_[op->name];
        elements.clear();
        const std::string stem = names_.bind(op->name);
        std::string list;
        for (int64_t i = 0; i < allocation.elements; i++) {
            elements.push_back(names_.fresh(stem + std::to_string(i)));
            list += (i ? ", " : "") + elements.back();
        }
        line(type + " " + list + ";");
        // The last tile may have results behind the last output.
        for (int64_t i = 0; i < allocation.elements; i++) {
            if (!allocation.loaded.contains(i)) line("(void)" + elements[static_cast<size_t>(i)] + ";");
        }
    } else if (allocation.storage == Storage::stack) {
        line(type + " " + names_.bind(op->name) + "[" + std::to_string(allocation.elements) + "];");
    } else {
        if (is_open_) throw NoCForm{"two temporaries of sizes that are not known when compiling"};
        is_open_ = allocation.is_sized;
        const std::string name = names_.bind(op->name);
        line(type + " *const " + name + " = (" + type + " *)((char *)workspace + " + std::to_string(workspace_) + ");");
        workspace_ += (allocation.bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
        most_workspace_ = std::max(most_workspace_, workspace_);
    }
    op->body.accept(this);
    variables_.erase(op->name);  // another one of this name may be kept elsewhere
    workspace_ = before;
    is_open_ = was_open;
}

void FunctionPrinter::visit(const Block *op) {
    op->first.accept(this);
    op->rest.accept(this);
}

void FunctionPrinter::visit(const Fork *op) {
    op->first.accept(this);
    op->rest.accept(this);
}

void FunctionPrinter::visit(const IfThenElse *op) {
    const std::string condition = value(op->condition);
    line("if (" + condition + ") {");
    block(op->then_case);
    if (op->else_case.defined()) {
        line("} else {");
        block(op->else_case);
    }
    line("}");
}

// Those in the array are named in the body's first lines.
std::string FunctionPrinter::parameters() {
    std::string list;
    bool has_array = false;
    for (const LoweredArgument &argument : function_.args) {
        if (!argument.is_buffer()) {
            const auto size = std::ranges::find(form_.sizes, argument.name, &CForm::Size::name);
            if (size == form_.sizes.end() || argument.type != Int(32)) throw NoCForm{"a scalar argument"};
            if (!std::exchange(has_array, true)) list += array_parameters(form_);
            line("const int32_t " + names_.bind(argument.name) + " = constants[" + std::to_string(size->offset) + "];");
            layer_.push(argument.name, Interval::single_point(static_cast<int32_t>(size->value)));
            continue;
        }
        const auto member = std::ranges::find(form_.members, argument.name, &CForm::Member::buffer);
        const std::string type = (argument.is_output() ? "" : "const ") + c_type(argument.type);
        const std::string name = names_.bind(argument.name);
        if (member == form_.members.end()) {
            // Whoever calls one of many kernels knows bytes.
            const bool is_typed = form_.members.empty() || form_.writes;
            const std::string parameter = is_typed ? name : names_.fresh(name + "_bytes");
            const std::string pointer = form_.may_overlap ? " *" : " *restrict ";
            list += (is_typed ? type : argument.is_output() ? "void" : "const void") + pointer + parameter + ", ";
            if (!is_typed) line(type + " *const " + name + " = " + parameter + ";");
            continue;
        }
        if (!std::exchange(has_array, true)) list += array_parameters(form_);
        line(type + " *const " + name + " = (" + type + " *)(constants + " + value(member->offset) + ");");
    }
    return list + "void *workspace";
}

CFunction FunctionPrinter::print() {
    for (const char *own : {"constants", "workspace"}) names_.bind(own);
    for (const CForm::Copy &copy : form_.copies) names_.bind(copy.name);
    const std::string head = "void " + function_.name + "(" + parameters() + ") {\n";
    body_.accept(this);
    std::string unused = most_workspace_ == 0 ? "    (void)workspace;\n" : "";
    // A body may compute the same from whatever it reads, and then reads nothing.
    const auto use = [&](const std::string &buffer, int declarations) {
        const std::string name = names_.of(buffer);
        if (words(text_, name) == declarations) line("(void)" + name + ";");
    };
    const bool are_typed = form_.members.empty() || form_.writes;
    for (const LoweredArgument &argument : function_.args) {
        if (!argument.is_buffer()) continue;
        const bool is_member =
            std::ranges::find(form_.members, argument.name, &CForm::Member::buffer) != form_.members.end();
        use(argument.name, are_typed && !is_member ? 0 : 1);
    }
    for (const CForm::Size &size : form_.sizes) use(size.name, 1);
    return {head + unused + text_ + copies(form_) + "}\n", most_workspace_};
}

}  // namespace

CFunction c_function(const LoweredFunc &function, CPrelude &prelude, const CForm &form) {
    return FunctionPrinter(function, prelude, form).print();
}

CFunction c_copying_function(const std::string &name, const CForm &form) {
    return {"void " + name + "(" + array_parameters(form) + "void *workspace) {\n    (void)workspace;\n" +
                copies(form) + "}\n",
            0};
}

}  // namespace kiln
