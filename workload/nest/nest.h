// A nest computes one tensor element by element from any number of others: element-wise operators, pools, reductions, products
// of activations, slices, resizes. It is what a network needs beside its convolutions.
//
//   result[i0, i1, ...] = finish(reduction over r0, r1, ... of term)
//
// The extents of i are the result's shape, those of r are `over`. Each index of a read is a sum of multiples of i and r, or an
// element of a table of integers. A read that lies outside of its operand leaves its term out of the reduction, as padding
// does; where there is no reduction the element is 0. What `finish` reads outside is 0 there.
//
// Text of reads: "x0[i0,2*i1+r0-1,2*i2+r1-1,i3];x1[i3]"; x<n> is operand n. Of a table: "x0[i0,x2[i1,r0]]".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/expression/expression.h"
#include "workload/result.h"

namespace kiln {

enum class Reduction { none, sum, mean, product, maximum, minimum };  // a mean is of the terms that are not left out

std::string_view name(Reduction reduction);  // "" for none
std::optional<Reduction> parse_reduction(std::string_view text);

// offset + sum of loops[d] * i_d + sum of over[d] * r_d, or the element at `place` of operand `table`.
struct NestIndex {
    std::vector<int64_t> loops, over;  // a factor for each loop
    int64_t offset = 0;
    int table = -1;                // -1: none
    std::vector<NestIndex> place;  // one affine index for each axis of the table
    bool operator==(const NestIndex &) const = default;
};

struct NestRead {
    int operand = 0;
    std::vector<NestIndex> indices;  // one for each axis of the operand
    bool operator==(const NestRead &) const = default;
};

// The values of affine indices over all loops.
struct Span {
    int64_t lowest = 0, highest = 0;
};

struct Nest {
    std::vector<int64_t> loops, over;            // extents, outermost first
    std::vector<std::vector<int64_t>> operands;  // shapes
    Reduction reduction = Reduction::none;
    std::vector<NestRead> reads;
    scalar::Expression term;  // operand n is reads[n]
    scalar::Expression
        finish;  // the same, and the operand after the last read is what was reduced; empty without a reduction
    std::vector<scalar::Element> types = {};  // of operands' elements in expressions; empty: f32
    scalar::Element result = scalar::Element::f32;
    bool operator==(const Nest &) const = default;

    bool is_table(int operand) const;  // some read takes an index from it: its elements are i32, else numbers
    scalar::Element type_of(int operand) const { return types.empty() ? scalar::Element::f32 : types[operand]; }
    std::vector<scalar::Element> types_of_reads() const;
    // The type of what is reduced. Precondition: the nest can be computed.
    scalar::Element type_of_term() const;
    // Whether floats are quantized: they become results that are integers, or i8 or u8 on the way; then each step of f32 is
    // rounded by itself, so that every kernel computes the same.
    bool quantizes() const;
    Span span(const NestIndex &affine) const;
    bool may_leave(const NestRead &read) const;  // some element that it reads may lie outside of its operand
};

// The parts of a nest as a workload states them.
struct NestTexts {
    std::vector<int64_t> loops, over;
    std::vector<std::vector<int64_t>> operands;
    std::string_view reduction, reads, term, finish;
    std::vector<scalar::Element> types = {};  // of operands, or empty
    scalar::Element result = scalar::Element::f32;
};

inline constexpr size_t most_nest_loops = 8;  // i and r each
inline constexpr size_t most_nest_operands = 8;
inline constexpr size_t most_nest_reads = 16;

// The error names the field and what is wrong with it. A nest that was accepted can be computed: factors and offsets are
// small enough that no index overflows, tables are of integers only, expressions are of the operands' types.
Result<Nest> parse_nest(const NestTexts &texts);

// The other way; parse_nest() reads them back equal.
std::string reads_text(const Nest &nest);

}  // namespace kiln
