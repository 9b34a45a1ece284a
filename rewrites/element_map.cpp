#include "rewrites/element_map.h"

#include <algorithm>
#include <cassert>

namespace kiln {
namespace {

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

int64_t value_of_digit(const Digit &digit, std::span<const int64_t> indices) {
    const int64_t quotient = floor_div(indices[digit.index] + digit.shift, digit.divisor);
    return digit.factor * (digit.modulus ? floor_mod(quotient, digit.modulus) : quotient);
}

}  // namespace

bool Form::is_index(int index) const { return *this == index_form(index); }

bool Form::depends_on(int index) const {
    return std::any_of(digits.begin(), digits.end(), [=](const Digit &d) { return d.index == index; });
}

Form index_form(int index) { return {{Digit{.index = index}}, 0}; }

Form operator+(Form a, const Form &b) {
    a.digits.insert(a.digits.end(), b.digits.begin(), b.digits.end());
    a.constant += b.constant;
    return a;
}

Form operator*(Form form, int64_t factor) {
    for (Digit &digit : form.digits) digit.factor *= factor;
    form.constant *= factor;
    return form;
}

Form digit_of(const Form &form, int64_t divisor, int64_t modulus, int64_t shift) {
    if (modulus == 1) return {};
    if (divisor == 1 && modulus == 0) return form + Form{{}, shift};
    if (form.digits.empty()) {
        const int64_t quotient = floor_div(form.constant + shift, divisor);
        return {{}, modulus ? floor_mod(quotient, modulus) : quotient};
    }
    assert(form.digits.size() == 1 && form.constant == 0 && form.digits.front().factor == 1);
    Digit digit = form.digits.front();
    if (shift) {
        assert(digit.divisor == 1 && digit.modulus == 0);
        digit.shift += shift;
    }
    digit.divisor *= divisor;
    if (digit.modulus) {  // (i % (a * divisor)) / divisor = i / divisor % a
        assert(digit.modulus % divisor == 0);
        const int64_t left = digit.modulus / divisor;
        assert(modulus == 0 || modulus >= left || left % modulus == 0);
        digit.modulus = modulus ? std::min(modulus, left) : left;
        if (digit.modulus == 1) return {};
    } else {
        digit.modulus = modulus;
    }
    return {{digit}, 0};
}

Form put_into(const Form &form, const std::vector<Form> &inner) {
    Form sum{{}, form.constant};
    for (const Digit &d : form.digits) {
        sum = sum + digit_of(inner[d.index], d.divisor, d.modulus, d.shift) * d.factor;
    }
    return sum;
}

int64_t value_of(const Form &form, std::span<const int64_t> indices) {
    int64_t sum = form.constant;
    for (const Digit &digit : form.digits) sum += value_of_digit(digit, indices);
    return sum;
}

ElementMap put_into(ElementMap map, const std::vector<Form> &inner) {
    for (Place &place : map) place.form = put_into(place.form, inner);
    return map;
}

std::optional<std::vector<int64_t>> locate(const ElementMap &map, std::span<const int64_t> indices) {
    std::vector<int64_t> stored;
    for (const Place &place : map) {
        const int64_t at = value_of(place.form, indices);
        if (at < 0 || at >= place.dilated() || at % place.hole != 0) return std::nullopt;
        stored.push_back(at / place.hole);
    }
    return stored;
}

}  // namespace kiln
