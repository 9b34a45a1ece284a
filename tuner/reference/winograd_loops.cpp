#include "tuner/reference/winograd_loops.h"

#include <cmath>

#include "catalog/winograd_operation.h"
#include "workload/winograd_sizes.h"

namespace kiln {

namespace {

// left * middle * right^T, of the values or of their absolute values.
Matrix product(const Matrix &left, const Matrix &middle, const Matrix &right, bool absolute) {
    const auto value = [&](double v) { return absolute ? std::fabs(v) : v; };
    Matrix half(left.size(), std::vector<double>(middle[0].size(), 0));
    for (size_t i = 0; i < left.size(); i++)
        for (size_t l = 0; l < middle.size(); l++)
            for (size_t k = 0; k < middle[0].size(); k++) {
                half[i][k] += value(left[i][l]) * value(middle[l][k]);
            }
    Matrix result(left.size(), std::vector<double>(right.size(), 0));
    for (size_t i = 0; i < left.size(); i++)
        for (size_t j = 0; j < right.size(); j++)
            for (size_t k = 0; k < middle[0].size(); k++) {
                result[i][j] += half[i][k] * value(right[j][k]);
            }
    return result;
}

// Where a tile's elements are in the canonical operand and result: one tile has a place n, ty, tx, c (of the filter: a
// pair of channels). -1: not there, zero when read and dropped when written.
struct Place {
    int64_t n = 0, ty = 0, tx = 0, c = 0;
};

class Tiles {
public:
    explicit Tiles(const Workload &w) : w_(w), s_(winograd_sizes(w)) {
        const bool is_filter = w.op == Operation::winograd_filter_transform;
        batch_ = is_filter ? 1 : w.input[0];
        channels_ = is_filter ? w.kernel[2] * w.kernel[3] : w.input[3];
    }

    template<typename Visit>
    void for_each(Visit visit) const {
        for (int64_t n = 0; n < batch_; n++)
            for (int64_t ty = 0; ty < s_.tiles[0]; ty++)
                for (int64_t tx = 0; tx < s_.tiles[1]; tx++)
                    for (int64_t c = 0; c < channels_; c++) {
                        visit(Place{n, ty, tx, c});
                    }
    }

    int64_t read_from(const Place &p, int64_t l, int64_t k) const {
        switch (w_.op) {
            case Operation::winograd_filter_transform:
                return (l * s_.window[1] + k) * channels_ + p.c;
            case Operation::winograd_output_transform:
                return transformed(p, l, k);
            default:
                return pixel(p, {p.ty * s_.tile[0] + l - w_.padding[0].lo, p.tx * s_.tile[1] + k - w_.padding[1].lo},
                             {w_.input[1], w_.input[2]});
        }
    }

    int64_t written_to(const Place &p, int64_t i, int64_t j) const {
        if (w_.op != Operation::winograd_output_transform) return transformed(p, i, j);
        return pixel(p, {p.ty * s_.tile[0] + i, p.tx * s_.tile[1] + j}, s_.output);
    }

    // Extents of what is read of a tile, and elements of the whole result.
    Extents2 read_extents() const { return w_.op == Operation::winograd_filter_transform ? s_.window : s_.transformed; }
    int64_t results() const {
        const Extents2 &space = w_.op == Operation::winograd_output_transform ? s_.output : s_.tiles;
        const int64_t tile = w_.op == Operation::winograd_output_transform ? 1 : s_.transformed[0] * s_.transformed[1];
        return tile * batch_ * space[0] * space[1] * channels_;
    }

private:
    int64_t transformed(const Place &p, int64_t i, int64_t j) const {
        return ((((i * s_.transformed[1] + j) * batch_ + p.n) * s_.tiles[0] + p.ty) * s_.tiles[1] + p.tx) * channels_ +
               p.c;
    }
    int64_t pixel(const Place &p, const Extents2 &at, const Extents2 &extents) const {
        if (at[0] < 0 || at[0] >= extents[0] || at[1] < 0 || at[1] >= extents[1]) return -1;
        return ((p.n * extents[0] + at[0]) * extents[1] + at[1]) * channels_ + p.c;
    }

    const Workload &w_;
    const WinogradSizes s_;
    int64_t batch_, channels_;
};

}  // namespace

Result<Sums> transform_tiles(const Workload &w, const std::vector<double> &operand) {
    const auto matrices = winograd_matrices_of(w);
    if (!matrices) return matrices.error();
    const Matrix &left = transform_matrix((*matrices)[0], w.op), &right = transform_matrix((*matrices)[1], w.op);
    const Tiles tiles(w);
    Sums sums{std::vector<double>(tiles.results()), std::vector<double>(tiles.results())};
    const auto [rows, columns] = tiles.read_extents();
    Matrix values(rows, std::vector<double>(columns));
    tiles.for_each([&](const Place &place) {
        for (int64_t l = 0; l < rows; l++)
            for (int64_t k = 0; k < columns; k++) {
                const int64_t from = tiles.read_from(place, l, k);
                values[l][k] = from < 0 ? 0 : operand[from];
            }
        const Matrix sum = product(left, values, right, false), magnitude = product(left, values, right, true);
        for (size_t i = 0; i < sum.size(); i++)
            for (size_t j = 0; j < sum[0].size(); j++) {
                const int64_t to = tiles.written_to(place, int64_t(i), int64_t(j));
                if (to < 0) continue;
                sums.sum[to] = sum[i][j];
                sums.magnitude[to] = magnitude[i][j];
            }
    });
    return sums;
}

}  // namespace kiln
