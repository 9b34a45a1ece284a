#include "schedules/spaces/movement/move_method.h"

#include <algorithm>

namespace kiln {
namespace {

// What stands in a candidate for knobs that its template does not have.
const std::vector<Knob> &knobs_of_others() {
    static const std::vector<Knob> knobs = {
        {"block_read", {1}, "only transposed tiles come in blocks"},
        {"block_written", {1}, "only transposed tiles come in blocks"},
        {"inner", {0}, "only transposed tiles follow one digit first"},
        {"lanes", {1}, "tiles of a matrix are lines on both sides"},
        {"rows", {1}, "only tiles in registers have rows"},
    };
    return knobs;
}

}  // namespace

MoveMethod method_of(const Knobs &stored) { return static_cast<MoveMethod>(stored.at("method")); }

Knobs stored_knobs(MoveMethod method, Knobs own) {
    own.emplace("method", method);
    for (const Knob &other : knobs_of_others()) own.emplace(other.name, other.values.front());
    return own;
}

Alternative move_alternative(MoveMethod method, std::vector<Knob> own, Constraint constraint) {
    for (const Knob &other : knobs_of_others()) {
        const auto is_other = [&](const Knob &knob) { return knob.name == other.name; };
        if (std::none_of(own.begin(), own.end(), is_other)) own.push_back(other);
    }
    return {{{"method", method}}, std::move(own), {std::move(constraint)}};
}

void explain_domain(Alternative *space, std::string_view knob, std::string why) {
    const auto found =
        std::find_if(space->knobs.begin(), space->knobs.end(), [&](const Knob &k) { return k.name == knob; });
    found->why = std::move(why);
}

}  // namespace kiln
