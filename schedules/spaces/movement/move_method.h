// The templates of data movement are one template, `move_tile`, in stored candidates: its knob `method` chooses among
// them, and a knob that one of them does not have is in its candidates with a value that says nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/space.h"

namespace kiln {

inline constexpr const char *move_tile_name = "move_tile";
inline constexpr int move_tile_version = 1;

enum MoveMethod : int64_t {
    move_rows = 0,
    move_transpose = 1,
    move_shuffle = 2,
    move_stream = 3,  // as matrix, by stores past the caches
    move_matrix = 4,
};

// The template of a stored candidate. Precondition: its space holds it.
MoveMethod method_of(const Knobs &stored);

// All knobs of a stored candidate of template `method`, which has `own` knobs.
Knobs stored_knobs(MoveMethod method, Knobs own);

// The space of template `method`: the domains of its own knobs, and one value of those that it does not have.
Alternative move_alternative(MoveMethod method, std::vector<Knob> own, Constraint constraint);

// What a refusal of other values of a template's own knob says.
void explain_domain(Alternative *space, std::string_view knob, std::string why);

}  // namespace kiln
