#include "generators/winograd/transform.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace kiln {
namespace {

using Halide::Expr;
using Row = std::vector<double>;
using Rows = std::vector<Row>;

bool same(double a, double b) { return std::fabs(a - b) <= 1e-9 * std::max(1.0, std::fabs(a)); }
bool is_unit(double c) { return same(std::fabs(c), 1); }

int nonzeros(const Row &row) {
    int count = 0;
    for (double c : row) count += c != 0;
    return count;
}

// Two rows or columns that agree but for signs: where they are equal, and where opposite.
struct Halves {
    Row equal, opposite;
};

bool split_halves(const Row &a, const Row &b, Halves *halves) {
    *halves = {Row(a.size(), 0), Row(a.size(), 0)};
    for (size_t j = 0; j < a.size(); j++) {
        if (same(a[j], b[j])) {
            halves->equal[j] = a[j];
        } else if (same(a[j], -b[j])) {
            halves->opposite[j] = a[j];
        } else {
            return false;
        }
    }
    return true;
}

// Builds the expressions and counts what they cost.
class Transform {
public:
    std::vector<Expr> product(Rows rows, std::vector<Expr> values) {
        share_columns(&rows, &values);
        std::vector<Expr> result(rows.size());
        for (size_t i = 0; i < rows.size(); i++) {
            if (result[i].defined()) continue;
            for (size_t j = i + 1; j < rows.size() && !result[i].defined(); j++) {
                Halves halves;
                const bool agree = !result[j].defined() && split_halves(rows[i], rows[j], &halves);
                // Apart: n terms twice; shared: once, and two to join the halves.
                if (agree && nonzeros(halves.equal) && nonzeros(halves.opposite) && nonzeros(rows[i]) > 2) {
                    join(halves, values, &result[i], &result[j]);
                }
            }
            if (!result[i].defined()) result[i] = sum(rows[i], values);
        }
        return result;
    }

    int operations = 0;

private:
    // Values whose columns agree but for signs only ever occur as their sum or their difference.
    void share_columns(Rows *rows, std::vector<Expr> *values) {
        auto column = [&](size_t j) {
            Row c;
            for (const Row &row : *rows) c.push_back(row[j]);
            return c;
        };
        for (size_t i = 0; i < values->size(); i++) {
            for (size_t j = i + 1; j < values->size(); j++) {
                Halves halves;
                const Row ci = column(i), cj = column(j);
                if (!split_halves(ci, cj, &halves) || nonzeros(ci) <= 2) continue;
                const Expr a = (*values)[i], b = (*values)[j];
                (*values)[i] = a + b, (*values)[j] = a - b;
                operations += 2;
                for (size_t r = 0; r < rows->size(); r++) {
                    (*rows)[r][i] = halves.equal[r], (*rows)[r][j] = halves.opposite[r];
                }
                break;
            }
        }
    }

    // *plus = equal + opposite, *minus = equal - opposite; a factor of the second half is left to the last step.
    void join(const Halves &halves, const std::vector<Expr> &values, Expr *plus, Expr *minus) {
        double factor = 0;
        for (double c : halves.opposite) {
            if (c == 0) continue;
            // The last: the highest power, which is bare in rows of B^T but for this factor. Of integers one that divides all.
            factor = values.front().type().is_float() ? c : double(std::gcd(int64_t(factor), int64_t(c)));
        }
        Row opposite = halves.opposite;
        for (double &c : opposite) c /= factor;
        const Expr even = sum(halves.equal, values), odd = sum(opposite, values);
        *plus = add(even, factor, odd);
        *minus = add(even, -factor, odd);
    }

    Expr sum(const Row &row, const std::vector<Expr> &values) {
        assert(row.size() == values.size());
        Expr total;
        // A bare term first, so that every other one is an addition or a multiply-add.
        for (bool units : {true, false}) {
            for (size_t j = row.size(); j-- > 0;) {
                if (row[j] != 0 && is_unit(row[j]) == units) total = add(total, row[j], values[j]);
            }
        }
        return total.defined() ? total : Halide::Internal::make_zero(values.front().type());
    }

    Expr add(const Expr &total, double c, const Expr &value) {
        assert(value.type().is_float() || c == std::round(c));
        const Expr scaled = is_unit(c) ? value : Halide::Internal::make_const(value.type(), std::fabs(c)) * value;
        operations += total.defined() || !same(c, 1);
        if (!total.defined()) return c < 0 ? -scaled : scaled;
        return c < 0 ? total - scaled : total + scaled;
    }
};

}  // namespace

std::vector<Expr> winograd_transform(const Rows &rows, const std::vector<Expr> &values) {
    return Transform().product(rows, values);
}

int winograd_transform_operations(const Rows &rows) {
    Transform transform;
    transform.product(rows, std::vector<Expr>(rows.front().size(), Halide::cast<float>(Halide::Var())));
    return transform.operations;
}

Expr entry_at(const Expr &index, const std::vector<Expr> &values) {
    return values.size() == 1 ? values[0] : Halide::mux(index, values);
}

}  // namespace kiln
