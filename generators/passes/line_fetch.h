// Fetches of single cache lines, and the lines that an expression reads.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

inline constexpr int64_t line_bytes = 64;

enum class Access { read, written };

// Which caches a line comes into, as LLVM numbers them.
enum class Locality { l2 = 2, l1 = 3 };

// The places that an expression or statement loads whole vectors of a buffer from, or single elements, too.
class Loads : public Halide::Internal::IRVisitor {
public:
    enum Kind { of_vectors, of_any_kind };
    explicit Loads(const std::string &buffer, Kind kind = of_vectors) : buffer_(buffer), kind_(kind) {}

    std::vector<Halide::Expr> places;  // elements
    Halide::Type element;

protected:
    using IRVisitor::visit;

    void visit(const Halide::Internal::Load *op) override;
    void visit(const Halide::Internal::Let *op) override { visit_let(op); }
    void visit(const Halide::Internal::LetStmt *op) override { visit_let(op); }

private:
    template<typename Let>
    void visit_let(const Let *op) {
        op->value.accept(this);
        bound_.emplace_back(op->name, op->value);
        op->body.accept(this);
        bound_.pop_back();
    }

    const std::string &buffer_;
    const Kind kind_;
    std::vector<std::pair<std::string, Halide::Expr>> bound_;
};

// Lines that are fetched already, by the element that was asked for.
class FetchedLines {
public:
    // A body that is unrolled has thousands of places: each is looked up by its constant part.
    bool is_new(const Halide::Expr &place, const Halide::Type &element);

private:
    std::map<Halide::Expr, std::set<int64_t>, Halide::Internal::IRDeepCompare> fetched_;
};

// Asks for the line of the byte at `place`, an i64, of a buffer. Where there is no memory it does nothing.
Halide::Internal::Stmt fetch_line(const std::string &buffer, const Halide::Expr &place, Access access,
                                  Locality locality);

}  // namespace kiln
