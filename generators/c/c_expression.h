// Halide's scalar expressions as C. An expression says what it computes in one text; values that it names (Let) become constants
// before the statement that it stands in. Numbers of f32 are their bits (c_float_functions.h). What is widened to f64 to be compared,
// chosen or cut off stays as it is.
#pragma once

#include <Halide.h>

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generators/c/c_names.h"

namespace kiln {

std::string c_type(
    const Halide::Type &type);  // "int8_t"; a condition is an int, a number of f32 the uint32_t of its bits

// What the text of a file needs besides <stdint.h>: its small functions, each once.
class CPrelude {
public:
    // The name of the function, of values of this type. `operation` is one of min, max, floor_div, floor_mod.
    std::string function(const std::string &operation, const Halide::Type &type);
    // Whether there is a function `name` that generators call: kiln_requantize, kiln_shifted, kiln_bounded. It becomes part of the file.
    bool has(const std::string &name);
    // A function of f32 (c_float_functions.h), by its name behind `kiln_`. It becomes part of the file, with those that it needs.
    std::string of_floats(const std::string &operation);
    std::string text() const;

private:
    std::set<std::string> functions_;
    std::set<std::string_view> float_functions_;
};

// Where an element lies: an array's element or, of arrays that are kept in variables, a variable.
using ElementText = std::function<std::string(const std::string &buffer, const Halide::Expr &index)>;

struct CContext {
    CNames &names;
    CPrelude &prelude;
    ElementText element;
    std::function<void(const std::string &)> statement;  // takes what comes before
};

class CExpression : public Halide::Internal::IRVisitor {
public:
    explicit CExpression(CContext &context) : context_(context) {}
    std::string text(const Halide::Expr &e);

protected:
    using Halide::Internal::IRVisitor::visit;
    void visit(const Halide::Internal::IntImm *op) override;
    void visit(const Halide::Internal::UIntImm *op) override;
    void visit(const Halide::Internal::FloatImm *op) override;
    void visit(const Halide::Internal::StringImm *) override;
    void visit(const Halide::Internal::Cast *op) override;
    void visit(const Halide::Internal::Reinterpret *op) override;
    void visit(const Halide::Internal::Variable *op) override;
    void visit(const Halide::Internal::Add *op) override { arithmetic(op, "+"); }
    void visit(const Halide::Internal::Sub *op) override { arithmetic(op, "-"); }
    void visit(const Halide::Internal::Mul *op) override { arithmetic(op, "*"); }
    void visit(const Halide::Internal::Div *op) override;
    void visit(const Halide::Internal::Mod *op) override;
    void visit(const Halide::Internal::Min *op) override { function(op, "min"); }
    void visit(const Halide::Internal::Max *op) override { function(op, "max"); }
    void visit(const Halide::Internal::EQ *op) override { comparison(op, "=="); }
    void visit(const Halide::Internal::NE *op) override { comparison(op, "!="); }
    void visit(const Halide::Internal::LT *op) override { comparison(op, "<"); }
    void visit(const Halide::Internal::LE *op) override { comparison(op, "<="); }
    void visit(const Halide::Internal::GT *op) override { comparison(op, ">"); }
    void visit(const Halide::Internal::GE *op) override { comparison(op, ">="); }
    void visit(const Halide::Internal::And *op) override { binary(op, "&&"); }
    void visit(const Halide::Internal::Or *op) override { binary(op, "||"); }
    void visit(const Halide::Internal::Not *op) override { result_ = "!" + text(op->a); }
    void visit(const Halide::Internal::Select *op) override;
    void visit(const Halide::Internal::Load *op) override;
    void visit(const Halide::Internal::Ramp *) override;
    void visit(const Halide::Internal::Broadcast *) override;
    void visit(const Halide::Internal::Shuffle *) override;
    void visit(const Halide::Internal::VectorReduce *) override;
    void visit(const Halide::Internal::Call *op) override;
    void visit(const Halide::Internal::Let *op) override;

private:
    template<typename Op>
    void binary(const Op *op, const char *sign);
    template<typename Op>
    void arithmetic(const Op *op, const char *sign);
    template<typename Op>
    void function(const Op *op, const char *name);
    template<typename Op>
    void comparison(const Op *op, const char *sign);
    void division(const Halide::Expr &a, const Halide::Expr &b, bool remainder);
    // A call of a function of f32: add, less, of_i32, ...
    void of_floats(const std::string &operation, const std::vector<Halide::Expr> &arguments);
    void conversion(const Halide::Type &to, const Halide::Expr &value);
    void special_number(const Halide::Internal::Call *op);
    bool float_call(const Halide::Internal::Call *op);
    void shift(const Halide::Internal::Call *op, bool left);
    std::string narrowed(const Halide::Type &type, const std::string &text) const;

    CContext &context_;
    std::string result_;
};

}  // namespace kiln
