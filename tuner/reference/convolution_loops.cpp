#include "tuner/reference/convolution_loops.h"

#include <algorithm>
#include <array>
#include <cmath>

// The loops are compiled for several CPUs and chosen at start: a reference of a large layer takes a second otherwise.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define KILN_FOR_EACH_CPU __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define KILN_FOR_EACH_CPU
#endif

namespace kiln {

namespace {

constexpr int rank = 3;  // fewer dimensions are outer ones of extent 1
using Extents = std::array<int64_t, rank>;

// Positions of the last dimension that one tap connects; both sides advance evenly.
struct Progression {
    int64_t count = 0, result_first = 0, result_step = 0, operand_first = 0, operand_step = 0;
};

// What one tap connects in one dimension.
struct Connection {
    std::vector<int64_t> operand_of;  // position in the operand for each position in the result, -1 for none
    Progression progression;
};

Connection connect(const std::vector<int64_t> &operand_of) {
    Connection connection{operand_of, {}};
    Progression &p = connection.progression;
    for (int64_t result = 0; result < int64_t(operand_of.size()); result++) {
        if (operand_of[result] < 0) {
            continue;
        }
        if (p.count == 0) {
            p.result_first = result;
            p.operand_first = operand_of[result];
        } else if (p.count == 1) {
            p.result_step = result - p.result_first;
            p.operand_step = operand_of[result] - p.operand_first;
        }
        p.count++;
    }
    return connection;
}

// What a workload says, with three spatial dimensions.
struct Geometry {
    explicit Geometry(const Workload &w)
        : batch(w.input[0] / w.batch_group_count),
          ci(w.kernel[w.spatial_rank]),
          co(w.kernel.back()),
          groups(w.feature_group_count * w.batch_group_count),
          feature_groups(w.feature_group_count > 1) {
        const std::vector<int64_t> output_extents = output_shape(w);
        for (int d = 0; d < w.spatial_rank; d++) {
            const int to = d + rank - w.spatial_rank;
            input[to] = w.input[d + 1];
            output[to] = output_extents[d + 1];
            kernel[to] = w.kernel[d];
            stride[to] = w.strides[d];
            lhs[to] = w.lhs_dilation[d];
            rhs[to] = w.rhs_dilation[d];
            lo[to] = w.padding[d].lo;
        }
    }

    // The input position that a tap and an output position meet at, -1 where that is a zero of padding or dilation.
    int64_t input_at(int d, int64_t tap, int64_t out) const {
        const int64_t dilated = out * stride[d] + tap * rhs[d] - lo[d];
        return dilated >= 0 && dilated % lhs[d] == 0 && dilated / lhs[d] < input[d] ? dilated / lhs[d] : -1;
    }

    std::vector<int64_t> input_of_output(int d, int64_t tap) const {
        std::vector<int64_t> map(output[d], -1);
        for (int64_t out = 0; out < output[d]; out++) {
            map[out] = input_at(d, tap, out);
        }
        return map;
    }

    std::vector<int64_t> output_of_input(int d, int64_t tap) const {
        std::vector<int64_t> map(input[d], -1);
        for (int64_t out = 0; out < output[d]; out++) {
            if (const int64_t in = input_at(d, tap, out); in >= 0) {
                map[in] = out;
            }
        }
        return map;
    }

    int64_t batch;   // of the output
    int64_t ci, co;  // input channels of one group, all output channels
    int64_t groups;  // feature or batch groups; never both
    bool feature_groups;
    Extents input = {1, 1, 1}, output = {1, 1, 1}, kernel = {1, 1, 1};
    Extents stride = {1, 1, 1}, lhs = {1, 1, 1}, rhs = {1, 1, 1}, lo = {0, 0, 0};
};

// An activation: its extents, and where a group's part of it begins.
struct Side {
    Extents extents;
    int64_t channels, batches;
    int64_t group_channels, group_batches;  // steps from group to group

    int64_t offset(int64_t n, int64_t d0, int64_t d1, int64_t d2, int64_t c) const {
        return (((n * extents[0] + d0) * extents[1] + d1) * extents[2] + d2) * channels + c;
    }
    int64_t elements() const { return batches * extents[0] * extents[1] * extents[2] * channels; }
};

Side input_side(const Geometry &g) {
    return {g.input, g.feature_groups ? g.groups * g.ci : g.ci, g.feature_groups ? g.batch : g.batch * g.groups,
            g.feature_groups ? g.ci : 0, g.feature_groups ? 0 : g.batch};
}

Side output_side(const Geometry &g) { return {g.output, g.co, g.batch, g.co / g.groups, 0}; }

using Connections = std::array<std::vector<Connection>, rank>;  // [dimension][tap]

// result[q][c] += sum over s of factors[q][s] * rows[s][c], and the same over absolute values: what all the time goes
// into. Each index has its step; c is contiguous.
struct Update {
    double *sum, *magnitude;
    int64_t result_step, count;  // of q
    const double *factors;
    int64_t factor_step, factor_inner_step;  // of q, of s
    const double *rows;
    int64_t row_step, depth;  // of s
    int64_t length;           // of c
};

// The sums of a block this wide are loaded and stored once for all of s; the known width unrolls.
constexpr int64_t register_block = 32;

KILN_FOR_EACH_CPU void apply(const Update &u) {
    for (int64_t q = 0; q < u.count; q++) {
        const double *factors = u.factors + q * u.factor_step;
        double *sum = u.sum + q * u.result_step, *magnitude = u.magnitude + q * u.result_step;
        int64_t c = 0;
        for (; c + register_block <= u.length; c += register_block) {
            double block_sum[register_block], block_magnitude[register_block];
            std::copy_n(sum + c, register_block, block_sum);
            std::copy_n(magnitude + c, register_block, block_magnitude);
            for (int64_t s = 0; s < u.depth; s++) {
                const double factor = factors[s * u.factor_inner_step], *row = u.rows + s * u.row_step + c;
                for (int64_t i = 0; i < register_block; i++) {
                    const double product = factor * row[i];
                    block_sum[i] += product;
                    block_magnitude[i] += std::fabs(product);
                }
            }
            std::copy_n(block_sum, register_block, sum + c);
            std::copy_n(block_magnitude, register_block, magnitude + c);
        }
        for (int64_t s = 0; s < u.depth; s++) {
            const double factor = factors[s * u.factor_inner_step], *row = u.rows + s * u.row_step;
            for (int64_t i = c; i < u.length; i++) {
                const double product = factor * row[i];
                sum[i] += product;
                magnitude[i] += std::fabs(product);
            }
        }
    }
}

constexpr int64_t channel_block = 64;  // a row of pixels by this many sums stays in the L1 or L2 cache

// One activation from the other: the forward convolution, and the gradient of the input with the sides exchanged.
// `kernel` is taps, operand channels, result channels.
struct ActivationLoops {
    const Geometry &geometry;
    Side result, operand;
    int64_t result_channels, operand_channels;  // of one group
    int64_t kernel_rows, kernel_columns;        // of all groups, as far as they have their own
    int64_t group_row, group_column;            // steps from group to group
    const Connections &connections;
    const double *activation, *kernel;

    Sums run() const {
        Sums sums{std::vector<double>(result.elements()), std::vector<double>(result.elements())};
        std::vector<double> sum(result.extents[2] * channel_block), magnitude(sum.size());
        for (int64_t group = 0; group < geometry.groups; group++)
            for (int64_t n = 0; n < geometry.batch; n++)
                for (int64_t d0 = 0; d0 < result.extents[0]; d0++)
                    for (int64_t d1 = 0; d1 < result.extents[1]; d1++)
                        for (int64_t c = 0; c < result_channels; c += channel_block) {
                            const int64_t length = std::min(channel_block, result_channels - c);
                            std::fill(sum.begin(), sum.end(), 0.0);
                            std::fill(magnitude.begin(), magnitude.end(), 0.0);
                            accumulate_row({group, n, d0, d1, c, length}, sum.data(), magnitude.data());
                            for (int64_t d2 = 0; d2 < result.extents[2]; d2++) {
                                const int64_t to = result.offset(n + group * result.group_batches, d0, d1, d2,
                                                                 c + group * result.group_channels);
                                std::copy_n(&sum[d2 * channel_block], length, &sums.sum[to]);
                                std::copy_n(&magnitude[d2 * channel_block], length, &sums.magnitude[to]);
                            }
                        }
        return sums;
    }

    struct Row {
        int64_t group, n, d0, d1, c, length;
    };

    void accumulate_row(const Row &row, double *sum, double *magnitude) const {
        const Extents &taps = geometry.kernel;
        for (int64_t r0 = 0; r0 < taps[0]; r0++)
            for (int64_t r1 = 0; r1 < taps[1]; r1++)
                for (int64_t r2 = 0; r2 < taps[2]; r2++) {
                    const int64_t s0 = connections[0][r0].operand_of[row.d0],
                                  s1 = connections[1][r1].operand_of[row.d1];
                    const Progression &p = connections[2][r2].progression;
                    if (s0 < 0 || s1 < 0 || p.count == 0) {
                        continue;
                    }
                    const int64_t tap = (r0 * taps[1] + r1) * taps[2] + r2;
                    const double *factors =
                        activation + operand.offset(row.n + row.group * operand.group_batches, s0, s1, p.operand_first,
                                                    row.group * operand.group_channels);
                    const double *rows = kernel + (tap * kernel_rows + row.group * group_row) * kernel_columns +
                                         row.group * group_column + row.c;
                    const int64_t to = p.result_first * channel_block;
                    apply({sum + to, magnitude + to, p.result_step * channel_block, p.count, factors,
                           p.operand_step * operand.channels, 1, rows, kernel_columns, operand_channels, row.length});
                }
    }
};

// The gradient of the kernel: for each tap, a sum of outer products over all positions.
Sums kernel_gradient(const Geometry &g, const Connections &input_of_output, const double *x, const double *dy) {
    const Side input = input_side(g), output = output_side(g);
    const Extents &taps = g.kernel;
    const int64_t elements = taps[0] * taps[1] * taps[2] * g.ci * g.co, group_co = g.co / g.groups;
    Sums sums{std::vector<double>(elements), std::vector<double>(elements)};
    constexpr int64_t input_block = 32;  // with channel_block: the sums of a block stay in the L1 cache
    for (int64_t group = 0; group < g.groups; group++)
        for (int64_t tap = 0; tap < taps[0] * taps[1] * taps[2]; tap++)
            for (int64_t i = 0; i < g.ci; i += input_block)
                for (int64_t o = 0; o < group_co; o += channel_block) {
                    const int64_t r0 = tap / (taps[1] * taps[2]), r1 = tap / taps[2] % taps[1], r2 = tap % taps[2];
                    const int64_t to = (tap * g.ci + i) * g.co + group * group_co + o;
                    const int64_t rows = std::min(input_block, g.ci - i),
                                  length = std::min(channel_block, group_co - o);
                    const Progression &p = input_of_output[2][r2].progression;
                    for (int64_t n = 0; n < g.batch; n++)
                        for (int64_t d0 = 0; d0 < g.output[0]; d0++)
                            for (int64_t d1 = 0; d1 < g.output[1]; d1++) {
                                const int64_t s0 = input_of_output[0][r0].operand_of[d0];
                                const int64_t s1 = input_of_output[1][r1].operand_of[d1];
                                if (s0 < 0 || s1 < 0) {
                                    continue;
                                }
                                apply({&sums.sum[to], &sums.magnitude[to], g.co, rows,
                                       x + input.offset(n + group * input.group_batches, s0, s1, p.operand_first,
                                                        group * input.group_channels + i),
                                       1, p.operand_step * input.channels,
                                       dy + output.offset(n, d0, d1, p.result_first, group * output.group_channels + o),
                                       p.result_step * output.channels, p.count, length});
                            }
                }
    return sums;
}

std::vector<double> exchange_channels(const Geometry &g, const std::vector<double> &kernel) {
    std::vector<double> exchanged(kernel.size());
    for (int64_t tap = 0; tap < g.kernel[0] * g.kernel[1] * g.kernel[2]; tap++)
        for (int64_t i = 0; i < g.ci; i++)
            for (int64_t o = 0; o < g.co; o++) {
                exchanged[(tap * g.co + o) * g.ci + i] = kernel[(tap * g.ci + i) * g.co + o];
            }
    return exchanged;
}

}  // namespace

Sums convolve(const Workload &workload, const std::vector<double> &first, const std::vector<double> &second) {
    const Geometry g(workload);
    const bool to_input = workload.op == Operation::conv_backprop_input;
    Connections connections;
    for (int d = 0; d < rank; d++) {
        for (int64_t tap = 0; tap < g.kernel[d]; tap++) {
            connections[d].push_back(connect(to_input ? g.output_of_input(d, tap) : g.input_of_output(d, tap)));
        }
    }
    if (workload.op == Operation::conv_backprop_kernel) {
        return kernel_gradient(g, connections, first.data(), second.data());
    }
    const int64_t group_co = g.co / g.groups;
    if (to_input) {
        const std::vector<double> exchanged = exchange_channels(g, second);
        return ActivationLoops{g,           input_side(g), output_side(g),  g.ci, group_co, g.co, g.ci, group_co, 0,
                               connections, first.data(),  exchanged.data()}
            .run();
    }
    return ActivationLoops{g, output_side(g), input_side(g), group_co,     g.ci,         g.ci, g.co,
                           0, group_co,       connections,   first.data(), second.data()}
        .run();
}

}  // namespace kiln
