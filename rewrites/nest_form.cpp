#include "rewrites/nest_form.h"

#include <algorithm>
#include <functional>

namespace kiln {
namespace {

std::vector<int64_t> strides_of(const std::vector<int64_t> &shape) {
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
    return strides;
}

void add(const NestIndex &index, int64_t stride, Linear *sum) {
    for (size_t d = 0; d < index.loops.size(); d++) sum->loops[d] += index.loops[d] * stride;
    for (size_t d = 0; d < index.over.size(); d++) sum->over[d] += index.over[d] * stride;
    sum->offset += index.offset * stride;
}

Linear zero(const Nest &nest) {
    return {std::vector<int64_t>(nest.loops.size()), std::vector<int64_t>(nest.over.size()), 0};
}

FlatRead flat(const Nest &nest, const NestRead &read) {
    FlatRead result;
    result.operand = read.operand, result.address = zero(nest);
    const std::vector<int64_t> &shape = nest.operands[read.operand], strides = strides_of(shape);
    for (size_t axis = 0; axis < shape.size(); axis++) {
        const NestIndex &index = read.indices[axis];
        CheckedAxis checked{zero(nest), index.table, shape[axis], strides[axis]};
        if (index.table >= 0) {
            const std::vector<int64_t> table_strides = strides_of(nest.operands[index.table]);
            for (size_t d = 0; d < index.place.size(); d++) add(index.place[d], table_strides[d], &checked.index);
        } else if (const Span reached = nest.span(index); reached.lowest >= 0 && reached.highest < shape[axis]) {
            add(index, strides[axis], &result.address);
            continue;
        } else {
            add(index, 1, &checked.index);
        }
        result.checked.push_back(std::move(checked));
    }
    return result;
}

using Factors = std::vector<int64_t> Linear::*;

// All linear forms of a nest.
void for_each_linear(NestForm &form, const std::function<void(Linear &, bool is_checked)> &visit) {
    for (FlatRead &read : form.reads) {
        visit(read.address, false);
        for (CheckedAxis &axis : read.checked) visit(axis.index, true);
    }
}

void remove(NestForm &form, std::vector<int64_t> &extents, Factors factors, size_t d) {
    extents.erase(extents.begin() + d);
    for_each_linear(form, [&](Linear &linear, bool) { (linear.*factors).erase((linear.*factors).begin() + d); });
}

// Whether loop d steps over just what loop d + 1 covers, in every address, and neither is looked at alone.
bool goes_on(NestForm &form, const std::vector<int64_t> &extents, Factors factors, size_t d) {
    bool result = true;
    for_each_linear(form, [&](Linear &linear, bool is_checked) {
        const int64_t outer = (linear.*factors)[d], inner = (linear.*factors)[d + 1];
        const bool fits = is_checked ? outer == 0 && inner == 0 : outer == inner * extents[d + 1];
        result = result && fits;
    });
    return result;
}

void merge(NestForm &form, std::vector<int64_t> &extents, Factors factors, size_t fewest) {
    for (size_t d = extents.size(); d-- > 0 && extents.size() > fewest;) {
        if (extents[d] == 1) remove(form, extents, factors, d);
    }
    for (size_t d = extents.size(); d-- > 1;) {
        if (!goes_on(form, extents, factors, d - 1)) continue;
        extents[d] *= extents[d - 1];
        remove(form, extents, factors, d - 1);
    }
}

}  // namespace

std::optional<int64_t> FlatRead::stride(std::vector<int64_t> Linear::*factors, size_t d) const {
    int64_t sum = (address.*factors)[d];
    for (const CheckedAxis &axis : checked) {
        const int64_t factor = (axis.index.*factors)[d];
        if (axis.table >= 0 && factor != 0) return std::nullopt;
        sum += factor * axis.stride;
    }
    return sum;
}

NestForm nest_form(const Nest &nest) {
    NestForm form{nest.loops, nest.over, {}};
    for (const NestRead &read : nest.reads) form.reads.push_back(flat(nest, read));
    merge(form, form.loops, &Linear::loops, 1);
    merge(form, form.over, &Linear::over, 0);
    return form;
}

bool may_be_in_place(const NestForm &form) {
    if (!form.over.empty()) return false;
    const auto reads_where_it_writes = [&](const FlatRead &read) {
        if (!read.checked.empty() || read.address.offset != 0) return false;
        int64_t place = 1;
        for (size_t d = form.loops.size(); d-- > 0; place *= form.loops[d]) {
            if (form.loops[d] > 1 && read.address.loops[d] != place) return false;
        }
        return true;
    };
    return std::ranges::any_of(form.reads, [&](const FlatRead &one) {
        return std::ranges::all_of(form.reads, [&](const FlatRead &read) {
            return read.operand != one.operand || reads_where_it_writes(read);
        });
    });
}

}  // namespace kiln
