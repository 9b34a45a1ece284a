// Nests as workloads: their texts, and the dtypes of their tensors.
#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "workload/workload.h"
#include "workload/workload_checks.h"

namespace kiln {
namespace {

using scalar::Element;

DType dtype_of(Element type) {
    switch (type) {
        case Element::i8:
            return DType::i8;
        case Element::u8:
            return DType::u8;
        case Element::i32:
            return DType::i32;
        default:
            return DType::f32;
    }
}

bool has_integers(const Workload &w) {
    return is_integer(w.dtype) || is_integer(w.output_dtype) || std::ranges::any_of(w.operand_dtypes, is_integer);
}

Result<Nest> read_nest(const Workload &w) {
    NestTexts texts{w.loops, w.over, w.operands, w.reduction, w.reads, w.term, w.finish};
    if (has_integers(w)) {
        texts.types.assign(w.operands.size(), element_in_expressions(w.dtype));
        for (size_t i = 0; i < std::min(w.operand_dtypes.size(), w.operands.size()); i++) {
            texts.types[i] = element_in_expressions(w.operand_dtypes[i]);
        }
        texts.result = element_in_expressions(w.output_dtype);
    }
    Result<Nest> nest = parse_nest(texts);
    if (!nest || texts.types.empty() || !w.operand_dtypes.empty()) return nest;
    for (size_t i = 0; i < nest->operands.size(); i++) {
        if (nest->is_table(static_cast<int>(i))) nest->types[i] = Element::i32;
    }
    return nest;
}

// One dtype where all numbers have it and tables are of i32, else that of each operand.
void state_dtypes(const Nest &nest, Workload *w) {
    std::optional<Element> first;
    bool is_uniform = true;
    for (size_t i = 0; i < nest.operands.size(); i++) {
        const bool is_table = nest.is_table(static_cast<int>(i));
        if (!is_table && !first) first = nest.types[i];
        is_uniform = is_uniform && nest.types[i] == (is_table ? Element::i32 : *first);
        w->operand_dtypes.push_back(dtype_of(nest.types[i]));
    }
    if (is_uniform) w->operand_dtypes.clear();
    w->dtype = dtype_of(first.value_or(Element::f32));
    w->output_dtype = dtype_of(nest.result);
}

Status check_tables(const Workload &w, const Nest &nest) {
    for (size_t i = 0; i < w.operand_dtypes.size(); i++) {
        const DType dtype = w.operand_dtypes[i];
        if (!nest.is_table(static_cast<int>(i)) || dtype == DType::i32 || dtype == DType::u8) continue;
        return bad_input("operand_dtypes: x" + std::to_string(i) + " is a table of indices and " +
                         std::string(name(dtype)) + "; needs i32 or u8");
    }
    return {};
}

// The dtypes as state_dtypes() has them, so that equal work has equal keys. Those of 16 bits are not its.
Status check_dtypes(const Workload &w, const Nest &nest) {
    if (w.operand_dtypes.empty()) return {};
    if (Status s = check_tables(w, nest); !s) return s;
    for (size_t i = 0; i < w.operand_dtypes.size(); i++) {
        if (nest.is_table(static_cast<int>(i))) continue;
        if (w.operand_dtypes[i] == w.dtype) break;
        return bad_input("dtype is " + std::string(name(w.dtype)) + "; where operand_dtypes are stated it is " +
                         std::string(name(w.operand_dtypes[i])) + ", that of the first operand of numbers");
    }
    for (size_t i = 0; i < w.operand_dtypes.size(); i++) {
        const DType left_out = nest.is_table(static_cast<int>(i)) ? DType::i32 : w.dtype;
        if (w.operand_dtypes[i] != left_out) return {};
    }
    return bad_input("operand_dtypes are those that operands have where they are not stated; leave them out");
}

}  // namespace

scalar::Element element_in_expressions(DType dtype) {
    switch (dtype) {
        case DType::i8:
            return Element::i8;
        case DType::u8:
            return Element::u8;
        case DType::i32:
            return Element::i32;
        default:
            return Element::f32;
    }
}

Nest nest_of(const Workload &w) { return std::move(*read_nest(w)); }

Workload nest_workload(const Nest &nest) {
    Workload w;
    w.op = Operation::nest;
    w.spatial_rank = 1;
    w.loops = nest.loops, w.over = nest.over, w.operands = nest.operands;
    w.reduction = name(nest.reduction);
    w.reads = reads_text(nest);
    w.term = scalar::to_text(nest.term);
    const std::string finish = scalar::to_text(nest.finish);
    if (finish != "x" + std::to_string(nest.reads.size())) w.finish = finish;
    if (!nest.types.empty()) state_dtypes(nest, &w);
    return w;
}

Status check_nest(const Workload &w) {
    if (!w.operand_dtypes.empty() && w.operand_dtypes.size() != w.operands.size()) {
        return bad_input("operand_dtypes has " + std::to_string(w.operand_dtypes.size()) + " entries for " +
                         std::to_string(w.operands.size()) + " operands");
    }
    const Result<Nest> nest = read_nest(w);
    if (!nest) return nest.error();
    const Workload canonical = nest_workload(*nest);
    for (const auto &[field, text, expected] : {std::tuple{"reads", &w.reads, &canonical.reads},
                                                {"term", &w.term, &canonical.term},
                                                {"finish", &w.finish, &canonical.finish}}) {
        if (*text != *expected) return bad_input(std::string(field) + ": is written `" + *expected + "`");
    }
    return check_dtypes(w, *nest);
}

}  // namespace kiln
