#include "graph/lower/node/stated_elements.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/evaluate/evaluate.h"

namespace kiln::graph {
namespace {

// Far above what is a constant, and far below what fills the memory.
constexpr int64_t most_stated_elements = int64_t{1} << 24;

Error not_held(Element type) {
    return bad_input("the input is " + std::string(name(type)) + ", which does not hold the number");
}

}  // namespace

Result<ConstantData> elements_of(std::vector<double> stated, const TypedShape &form) {
    const int64_t count = *element_count(form.shape);
    if (count > most_stated_elements) {
        return bad_input("the input, " + to_text(form.shape) + ", has more elements than kiln computes beforehand");
    }
    if (stated.size() == 1) stated.resize(static_cast<size_t>(count), stated[0]);
    if (static_cast<int64_t>(stated.size()) != count) {
        return bad_input("it has " + std::to_string(stated.size()) + " numbers, and the input, " + to_text(form.shape) +
                         ", has " + std::to_string(count) + " elements; state one for all or one for each");
    }
    if (is_float(form.type)) {
        const Numbers numbers = round_to_type({form, std::move(stated)});
        const bool is_held =
            std::ranges::all_of(std::get<0>(numbers.elements), [](double x) { return std::isfinite(x); });
        return is_held ? Result<ConstantData>(to_constant(numbers)) : not_held(form.type);
    }
    std::vector<int64_t> integers;
    for (const double number : stated) {
        constexpr double limit = 9007199254740992.0;  // 2^53: up to here a double has all integers
        if (number != std::trunc(number) || std::abs(number) > limit) {
            return bad_input("the input is " + std::string(name(form.type)) +
                             ", and a number of it is no such integer");
        }
        integers.push_back(static_cast<int64_t>(number));
    }
    Numbers numbers{form, std::move(integers)};
    if (round_to_type(numbers) == numbers) return to_constant(numbers);
    return not_held(form.type);
}

}  // namespace kiln::graph
