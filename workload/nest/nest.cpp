#include "workload/nest/nest.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kiln {
namespace {

constexpr std::array<std::pair<Reduction, std::string_view>, 6> reduction_names{{
    {Reduction::none, ""},
    {Reduction::sum, "sum"},
    {Reduction::mean, "mean"},
    {Reduction::product, "product"},
    {Reduction::maximum, "maximum"},
    {Reduction::minimum, "minimum"},
}};

void widen(const std::vector<int64_t> &factors, const std::vector<int64_t> &extents, Span *span) {
    for (size_t d = 0; d < factors.size(); d++) {
        const int64_t last = factors[d] * (extents[d] - 1);
        (last < 0 ? span->lowest : span->highest) += last;
    }
}

}  // namespace

std::string_view name(Reduction reduction) {
    for (const auto &[value, text] : reduction_names) {
        if (value == reduction) return text;
    }
    return "?";
}

std::optional<Reduction> parse_reduction(std::string_view text) {
    for (const auto &[value, known] : reduction_names) {
        if (known == text) return value;
    }
    return std::nullopt;
}

bool Nest::is_table(int operand) const {
    return std::ranges::any_of(reads, [operand](const NestRead &read) {
        return std::ranges::any_of(read.indices, [operand](const NestIndex &index) { return index.table == operand; });
    });
}

std::vector<scalar::Element> Nest::types_of_reads() const {
    std::vector<scalar::Element> all;
    for (const NestRead &read : reads) all.push_back(type_of(read.operand));
    return all;
}

scalar::Element Nest::type_of_term() const { return *scalar::type_of(term, types_of_reads()); }

bool Nest::quantizes() const {
    bool has_floats = types.empty(), has_quanta = !scalar::is_float(result);
    for (const scalar::Element type : types) has_floats = has_floats || scalar::is_float(type);
    for (const scalar::Expression *expression : {&term, &finish}) {
        for (const scalar::Step &step : expression->steps) {
            if (step.function != scalar::Function::cast) continue;
            has_floats = has_floats || scalar::is_float(step.type);
            has_quanta = has_quanta || step.type == scalar::Element::i8 || step.type == scalar::Element::u8;
        }
    }
    return has_floats && has_quanta;
}

Span Nest::span(const NestIndex &affine) const {
    Span span{affine.offset, affine.offset};
    widen(affine.loops, loops, &span);
    widen(affine.over, over, &span);
    return span;
}

bool Nest::may_leave(const NestRead &read) const {
    for (size_t axis = 0; axis < read.indices.size(); axis++) {
        const NestIndex &index = read.indices[axis];
        if (index.table >= 0) return true;
        const Span reached = span(index);
        if (reached.lowest < 0 || reached.highest >= operands[read.operand][axis]) return true;
    }
    return false;
}

}  // namespace kiln
