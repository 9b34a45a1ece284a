#include "schedules/spaces/movement/move_tile_space.h"

#include <algorithm>

#include "schedules/spaces/movement/cache_fit.h"
#include "schedules/spaces/movement/move_matrix.h"
#include "schedules/spaces/movement/move_rows.h"
#include "schedules/spaces/movement/move_shuffle.h"
#include "schedules/spaces/movement/move_transpose.h"

namespace kiln {
namespace {

constexpr int64_t fewest_transposed_bytes = 16;  // of the shorter digit; shuffles are faster below

// Whether both sides have the same neighbours, enough of them for vectors.
bool has_long_rows(const Movement &m, const Target &target) {
    const MovedDigit &innermost = m.digits.back();
    return m.is_regular && read_neighbours(m) == static_cast<int>(m.digits.size()) - 1 &&
           innermost.valid == innermost.extent && innermost.extent >= most_lanes(m, target) / 2;
}

bool has_wide_tiles(const Movement &m) {
    const int64_t shorter = std::min(m.digits.back().extent, m.digits[read_neighbours(m)].extent);
    return shorter * m.element_bytes >= fewest_transposed_bytes;
}

template<typename TemplateKnobs>
Knobs stored(MoveMethod method, const TemplateKnobs &own) {
    return stored_knobs(method, encode_knobs(own));
}

Knobs default_knobs(const Movement &m, const Target &target, const Core &core) {
    const Knobs rows = stored(move_rows, default_rows(m, target, core));
    if (has_long_rows(m, target)) return rows;
    const MatrixForm matrix = matrix_form(m, target);
    if (matrix.rows >= 0 && (may_stay_in_cache(m) || !is_far(m, core))) {
        return stored(move_matrix, default_matrix(m, target, core));
    }
    if (may_stream(m, matrix)) return stored(move_stream, default_stream(m, target, core));
    if (!transposes(m) || !has_wide_tiles(m)) {
        if (const auto shuffle = default_shuffle(m, target, core)) return stored(move_shuffle, *shuffle);
    }
    return transposes(m) ? stored(move_transpose, default_transpose(m, target, core)) : rows;
}

}  // namespace

Space move_tile_space(Candidate base, const Movement &m, const Target &target, const Core &core) {
    std::vector<Alternative> templates{rows_space(m, target)};
    if (transposes(m)) templates.push_back(transpose_space(m, target));
    if (shuffle_form(m).along >= 0) templates.push_back(shuffle_space(m, target));
    const MatrixForm matrix = matrix_form(m, target);
    if (may_stream(m, matrix)) templates.push_back(matrix_space(move_stream, m, target));
    if (matrix.rows >= 0) templates.push_back(matrix_space(move_matrix, m, target));
    base.schedule = move_tile_name;
    base.schedule_version = move_tile_version;
    base.knobs = default_knobs(m, target, core);
    auto [knobs, constraints] = join_alternatives(std::move(templates));
    return Space(std::move(base), std::move(knobs), std::move(constraints));
}

}  // namespace kiln
