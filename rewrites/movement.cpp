#include "rewrites/movement.h"

#include <algorithm>
#include <optional>

namespace kiln {
namespace {

using Components = std::vector<std::vector<MovedComponent>>;

// A digit with what it says of the axes.
struct CutDigit {
    int64_t extent = 1;
    int written_axis = 0;
    int64_t written_step = 1;
    int read_axis = 0;
    int64_t read_step = 1;
    int64_t read_stride = 0, written_stride = 1;
};

// Cuts a digit at multiples `at` of its axis, so that one piece counts those and the other what is between; nothing
// where they do not divide.
bool cut(std::vector<CutDigit> *digits, size_t index, int64_t at, int64_t CutDigit::*step) {
    CutDigit outer = (*digits)[index], inner = outer;
    const int64_t unit = outer.*step;
    if (at <= unit || at >= unit * outer.extent) return true;
    if (at % unit != 0 || unit * outer.extent % at != 0) return false;
    inner.extent = at / unit;
    outer.extent /= inner.extent;
    outer.written_step *= inner.extent, outer.read_step *= inner.extent;
    (*digits)[index] = outer;
    digits->insert(digits->begin() + static_cast<std::ptrdiff_t>(index) + 1, inner);
    return true;
}

bool cut_all(std::vector<CutDigit> *digits, int axis, int CutDigit::*of, int64_t at, int64_t CutDigit::*step) {
    for (size_t i = 0; i < digits->size(); i++) {
        if ((*digits)[i].*of == axis && !cut(digits, i, at, step)) return false;
    }
    return true;
}

// Which component of its axis a digit that crosses none of their borders belongs to.
bool find_component(const Components &components, CutDigit *digit) {
    for (const MovedComponent &c : components[digit->written_axis]) {
        if (digit->written_step < c.place) continue;
        if (digit->written_step % c.place != 0) return false;
        digit->read_axis = c.axis;
        digit->read_step = digit->written_step / c.place * c.unit;
        return true;
    }
    return false;
}

// Distance in the operand's memory of one step of a digit that crosses no border of its dimensions.
bool find_stride(const TensorForm &form, CutDigit *digit) {
    int64_t stride = 1, largest_step = 0;
    digit->read_stride = 0;
    for (size_t d = form.stored.size(); d-- > 0;) {
        const StoredDimension &dimension = form.stored[d];
        if (dimension.axis == digit->read_axis && dimension.step <= digit->read_step && dimension.step > largest_step) {
            if (digit->read_step % dimension.step != 0) return false;
            largest_step = dimension.step;
            digit->read_stride = digit->read_step / dimension.step * stride;
        }
        stride *= dimension.extent;
    }
    return largest_step > 0;
}

std::vector<CutDigit> whole_dimensions(const TensorForm &form) {
    std::vector<CutDigit> digits;
    for (const StoredDimension &d : form.stored) {
        if (d.extent > 1) digits.push_back({.extent = d.extent, .written_axis = d.axis, .written_step = d.step});
    }
    return digits;
}

// The digits where every jump of the operand's memory is one between digits.
std::optional<std::vector<CutDigit>> regular_digits(const TensorForm &from, const TensorForm &to,
                                                    const Components &components) {
    std::vector<CutDigit> digits = whole_dimensions(to);
    for (size_t axis = 0; axis < components.size(); axis++) {
        for (const MovedComponent &c : components[axis]) {
            if (!cut_all(&digits, static_cast<int>(axis), &CutDigit::written_axis, c.place, &CutDigit::written_step))
                return {};
        }
    }
    for (CutDigit &digit : digits) {
        if (!find_component(components, &digit)) return {};
    }
    for (const StoredDimension &d : from.stored) {
        if (!cut_all(&digits, d.axis, &CutDigit::read_axis, d.step, &CutDigit::read_step)) return {};
    }
    for (CutDigit &digit : digits) {
        if (!find_stride(from, &digit)) return {};
    }
    return digits;
}

// Where a sum of digits may reach beyond an axis.
void limit_axis(const std::vector<CutDigit> &digits, const TensorForm &form, size_t axis, int CutDigit::*of,
                int64_t CutDigit::*step, std::vector<MovedLimit> *limits) {
    MovedLimit limit{{}, form.logical[axis]};
    int64_t last = 0;
    for (const CutDigit &digit : digits) {
        const bool says = digit.*of == static_cast<int>(axis);
        limit.steps.push_back(says ? digit.*step : 0);
        if (says) last += (digit.extent - 1) * (digit.*step);
    }
    const bool known = std::find(limits->begin(), limits->end(), limit) != limits->end();
    if (last >= limit.extent && !known) limits->push_back(limit);
}

// Limits that one digit alone tells become what is valid of it.
void simplify_limits(Movement *m) {
    std::erase_if(m->limits, [&](const MovedLimit &limit) {
        if (std::count(limit.steps.begin(), limit.steps.end(), 0) + 1 != std::ptrdiff_t(limit.steps.size()))
            return false;
        for (size_t i = 0; i < limit.steps.size(); i++) {
            if (limit.steps[i] == 0) continue;
            int64_t &valid = m->digits[i].valid;
            valid = std::min(valid, (limit.extent + limit.steps[i] - 1) / limit.steps[i]);
        }
        return true;
    });
}

// Whether the digits `outer` and the next are one digit on both sides, for what they read, write and limit.
bool are_one(const Movement &m, size_t outer) {
    const MovedDigit &a = m.digits[outer], &b = m.digits[outer + 1];
    bool one = b.valid == b.extent && a.read_stride == b.extent * b.read_stride;
    for (const MovedLimit &limit : m.limits) one = one && limit.steps[outer] == b.extent * limit.steps[outer + 1];
    return one;
}

void merge(Movement *m) {
    for (size_t i = m->digits.size(); i-- > 1;) {
        if (!are_one(*m, i - 1)) continue;
        MovedDigit &outer = m->digits[i - 1];
        const MovedDigit inner = m->digits[i];
        outer = {outer.extent * inner.extent, inner.read_stride, inner.written_stride, outer.valid * inner.extent};
        m->digits.erase(m->digits.begin() + static_cast<std::ptrdiff_t>(i));
        for (MovedLimit &limit : m->limits) limit.steps.erase(limit.steps.begin() + static_cast<std::ptrdiff_t>(i - 1));
    }
}

}  // namespace

Components moved_components(const Workload &w) {
    const Signature tensors = signature(w);
    const std::vector<int64_t> &from = tensors.operands[0].logical, &to = tensors.result.logical;
    Components components;
    for (size_t axis = 0; axis < to.size(); axis++) components.push_back({{static_cast<int>(axis), 1, 1, to[axis]}});
    if (w.op == Operation::layout_transform) return components;
    const int channel_axis = static_cast<int>(to.size()) - 1;
    const bool gathers = w.op == Operation::space_to_depth;
    int64_t place = gathers ? from.back() : to.back();  // of one pixel of a block among the channels
    for (size_t d = w.block.size(); d-- > 0; place *= w.block[d]) {
        const int axis = static_cast<int>(d) + 1;
        if (gathers) {
            components[axis][0].unit = w.block[d];
            components[channel_axis].back().extent = from.back();
            components[channel_axis].insert(components[channel_axis].begin(), {axis, 1, place, w.block[d]});
        } else {
            components[axis] = {{axis, 1, w.block[d], from[axis]}, {channel_axis, place, 1, w.block[d]}};
        }
    }
    return components;
}

Movement movement(const Workload &w) {
    const Signature tensors = signature(w);
    const TensorForm &from = tensors.operands[0], &to = tensors.result;
    Movement m;
    m.element_bytes = size_of(w.dtype);
    m.read_elements = elements(from.shape()), m.written_elements = elements(to.shape());
    auto digits = regular_digits(from, to, moved_components(w));
    m.is_regular = digits.has_value();
    if (!m.is_regular) digits = whole_dimensions(to);
    if (digits->empty()) digits->push_back({});
    int64_t stride = 1;
    for (size_t i = digits->size(); i-- > 0; stride *= (*digits)[i].extent) (*digits)[i].written_stride = stride;
    for (const CutDigit &d : *digits) m.digits.push_back({d.extent, d.read_stride, d.written_stride, d.extent});
    if (!m.is_regular) return m;
    for (size_t axis = 0; axis < to.logical.size(); axis++) {
        limit_axis(*digits, to, axis, &CutDigit::written_axis, &CutDigit::written_step, &m.limits);
        limit_axis(*digits, from, axis, &CutDigit::read_axis, &CutDigit::read_step, &m.limits);
    }
    simplify_limits(&m);
    merge(&m);
    return m;
}

int read_neighbours(const Movement &m) {
    for (size_t d = 0; m.is_regular && d < m.digits.size(); d++) {
        if (m.digits[d].read_stride == 1) return static_cast<int>(d);
    }
    return -1;
}

}  // namespace kiln
