// From a nest's texts to a nest that can be computed.
#include <algorithm>
#include <tuple>

#include "workload/nest/nest.h"
#include "workload/nest/nest_text.h"

namespace kiln {
namespace {

constexpr int64_t most_elements = int64_t{1} << 40;

Status check_extents(const std::string &field, const std::vector<int64_t> &extents, size_t most) {
    if (extents.size() > most) {
        return bad_input(field + ": " + std::to_string(extents.size()) + " extents; needs up to " +
                         std::to_string(most));
    }
    int64_t product = 1;
    for (int64_t extent : extents) {
        if (extent < 1 || extent > INT32_MAX) {
            return bad_input(field + ": an extent of " + std::to_string(extent) + "; needs 1 to 2147483647");
        }
        if (__builtin_mul_overflow(product, extent, &product) || product > most_elements) {
            return bad_input(field + ": more than 2^40 elements");
        }
    }
    return {};
}

Status check_extents(const Nest &nest) {
    if (nest.loops.empty()) return bad_input("loops: is empty; needs the shape of the result");
    if (Status s = check_extents("loops", nest.loops, most_nest_loops); !s) return s;
    if (Status s = check_extents("over", nest.over, most_nest_loops); !s) return s;
    if (nest.operands.empty() || nest.operands.size() > most_nest_operands) {
        return bad_input("operands: " + std::to_string(nest.operands.size()) + " shapes; needs 1 to " +
                         std::to_string(most_nest_operands));
    }
    for (size_t i = 0; i < nest.operands.size(); i++) {
        const std::string field = "operands[" + std::to_string(i) + "]";
        if (nest.operands[i].empty()) return bad_input(field + ": is empty; a scalar has the shape 1");
        if (Status s = check_extents(field, nest.operands[i], most_nest_loops); !s) return s;
    }
    return {};
}

bool has_over(const NestIndex &index) {
    return std::ranges::any_of(index.over, [](int64_t factor) { return factor != 0; }) ||
           std::ranges::any_of(index.place, has_over);
}

// Which reads an expression takes, `reduced` (the operand after the last read) among them.
std::vector<bool> operands_of(const scalar::Expression &expression, size_t count) {
    std::vector<bool> taken(count);
    for (const scalar::Step &step : expression.steps) {
        if (step.function == scalar::Function::operand) taken[step.operand] = true;
    }
    return taken;
}

Status check_type(const std::string &field, scalar::Element type, scalar::Element needed) {
    if (type == needed) return {};
    return bad_input(field + ": its result is " + std::string(scalar::name(type)) + "; needs " +
                     std::string(scalar::name(needed)));
}

// Numbers of 32 bits, or of 8: kernels reduce in no others.
Status check_reduced(const Nest &nest, scalar::Element type) {
    using enum scalar::Element;
    if (nest.types.empty()) return check_type("term", type, f32);
    if (type != f32 && type != i32 && type != i8 && type != u8) {
        return bad_input("term: its result is " + std::string(scalar::name(type)) +
                         ", which is not reduced; needs f32, i32, i8 or u8");
    }
    if (nest.reduction != Reduction::mean || type == f32) return {};
    return bad_input("reduction: a mean is of f32; the term is " + std::string(scalar::name(type)));
}

Status check_expressions(const Nest &nest) {
    const size_t count = nest.reads.size();
    std::vector<scalar::Element> types = nest.types_of_reads();
    const Result<scalar::Element> term = scalar::type_of(nest.term, types);
    if (!term) return bad_input("term: " + term.error().message);
    if (nest.reduction == Reduction::none) {
        if (!nest.over.empty()) return bad_input("over: there is no reduction to take it");
        if (!nest.finish.steps.empty()) return bad_input("finish: there is no reduction whose result it could take");
        return check_type("term", *term, nest.result);
    }
    if (Status s = check_reduced(nest, *term); !s) return s;
    types.push_back(*term);
    const Result<scalar::Element> finish = scalar::type_of(nest.finish, types);
    if (!finish) return bad_input("finish: " + finish.error().message);
    if (Status s = check_type("finish", *finish, nest.result); !s) return s;
    const std::vector<bool> finishing = operands_of(nest.finish, count + 1);
    for (size_t i = 0; i < count; i++) {
        if (finishing[i] && std::ranges::any_of(nest.reads[i].indices, has_over)) {
            return bad_input("finish: x" + std::to_string(i) + " is a read that depends on r");
        }
    }
    return {};
}

Status check_tables(const Nest &nest) {
    for (const NestRead &read : nest.reads) {
        if (nest.is_table(read.operand)) {
            return bad_input("reads: x" + std::to_string(read.operand) +
                             " is a table of indices and read as numbers too");
        }
        for (const NestIndex &index : read.indices) {
            if (index.table < 0) continue;
            for (size_t d = 0; d < index.place.size(); d++) {
                const Span reached = nest.span(index.place[d]);
                if (reached.lowest >= 0 && reached.highest < nest.operands[index.table][d]) continue;
                return bad_input("reads: the table x" + std::to_string(index.table) + " is read outside of its shape");
            }
        }
    }
    return {};
}

Status check_operands(const Nest &nest) {
    for (size_t i = 0; i < nest.operands.size(); i++) {
        const auto reads_it = [&](const NestRead &read) { return read.operand == static_cast<int>(i); };
        if (nest.is_table(static_cast<int>(i)) || std::ranges::any_of(nest.reads, reads_it)) continue;
        return bad_input("reads: nothing reads operand x" + std::to_string(i));
    }
    return {};
}

}  // namespace

Result<Nest> parse_nest(const NestTexts &texts) {
    Nest nest{.loops = texts.loops,
              .over = texts.over,
              .operands = texts.operands,
              .types = texts.types,
              .result = texts.result};
    if (Status s = check_extents(nest); !s) return s.error();
    const auto reduction = parse_reduction(texts.reduction);
    if (!reduction) {
        return bad_input("reduction: `" + std::string(texts.reduction) +
                         "` is none; needs sum, mean, product, maximum or minimum");
    }
    nest.reduction = *reduction;
    Result<std::vector<NestRead>> reads = parse_reads(texts.reads, nest);
    if (!reads) return reads.error();
    nest.reads = std::move(*reads);
    for (const auto &[field, text, expression] :
         {std::tuple{"term", texts.term, &nest.term}, {"finish", texts.finish, &nest.finish}}) {
        if (text.empty()) continue;
        Result<scalar::Expression> parsed = scalar::parse_expression(text);
        if (!parsed) return bad_input(std::string(field) + ": " + parsed.error().message);
        *expression = std::move(*parsed);
    }
    // Without a finish, the reduction itself is the result.
    if (nest.reduction != Reduction::none && nest.finish.steps.empty()) {
        nest.finish = scalar::operand(static_cast<int>(nest.reads.size()));
    }
    if (Status s = check_expressions(nest); !s) return s.error();
    if (Status s = check_tables(nest); !s) return s.error();
    if (Status s = check_operands(nest); !s) return s.error();
    return nest;
}

}  // namespace kiln
