// Where the elements of one tensor lie in another: each index of the other as a form of the indices of the one.
//
// A form is a sum of digits and a constant. A digit is an index, shifted, divided and reduced, times a factor:
//   factor * ((index + shift) / divisor % modulus), all of them rounded down; modulus 0 stands for no remainder
// That is enough for windows (x * stride + s * dilation - pad), for blocks of pixels (c / channels % block), for phases
// ((x + origin) / phases) and for groups. Forms can be put into forms, so rewrites of a convolution compose.
//
// A place is an index of what is stored: form / hole, where `hole` divides the form and the quotient lies between 0 and
// extent - 1; elsewhere there is no element. Plain numbers only: generators/activation.h makes expressions of the same
// maps, and the tests follow them with loops.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kiln {

struct Digit {
    int index = 0;
    int64_t factor = 1, shift = 0, divisor = 1, modulus = 0;

    bool operator==(const Digit &) const = default;
};

struct Form {
    std::vector<Digit> digits;
    int64_t constant = 0;

    // Whether the form is this index, and nothing else.
    bool is_index(int index) const;
    bool depends_on(int index) const;
    bool operator==(const Form &) const = default;
};

Form index_form(int index);
Form operator+(Form a, const Form &b);
Form operator*(Form form, int64_t factor);
// (form + shift) / divisor % modulus. Precondition: the form is an index or one digit of it with factor 1, and the
// result is one, too.
Form digit_of(const Form &form, int64_t divisor, int64_t modulus = 0, int64_t shift = 0);
// `form` with inner[i] in place of index i. Precondition: where `form` has a digit of index i, inner[i] has one.
Form put_into(const Form &form, const std::vector<Form> &inner);
int64_t value_of(const Form &form, std::span<const int64_t> indices);

// What is known of elements beyond a stored dimension.
enum class Outside {
    never,  // none is asked for
    any,    // some are asked for, but what they are does not count
    zero    // they are zeros: of the padding, of holes, of what fills up blocks
};

struct Place {
    Form form;
    int64_t extent = 1, hole = 1;
    Outside outside = Outside::never;

    int64_t dilated() const { return (extent - 1) * hole + 1; }  // extent of the form
    bool operator==(const Place &) const = default;
};

using ElementMap = std::vector<Place>;

// The same places seen from other indices: inner[i] is index i in terms of them.
ElementMap put_into(ElementMap map, const std::vector<Form> &inner);
// The indices of what is stored, or nothing where there is no element.
std::optional<std::vector<int64_t>> locate(const ElementMap &map, std::span<const int64_t> indices);

}  // namespace kiln
