// The loops of runtime/stream_transpose.h for one kind of vectors. Included by one file a CPU, each with its own flags,
// so everything here is local to the file.
//
// Isa has, for vectors of `lanes` times 16 bytes: load, low and high (interleaves the lower or upper halves of each
// lane of two vectors, by units of 1, 2, 4 or 8 bytes), exchange_lanes (the last step of turn()) and stream.
#pragma once

#include <string.h>
#include <xmmintrin.h>

#include "runtime/stream_transpose.h"

namespace kiln {
namespace {

constexpr int fetched_bytes_ahead = 512;

// Vectors in arrays stay in registers only where loops are unrolled and calls inlined.
#define KILN_IN_REGISTERS inline __attribute__((always_inline))

struct StreamedBlock {
    const char *read;
    char *written;
    int64_t row_stride, column_stride, run_stride;  // bytes
    int run, rows, columns;
};

// Where the lines of a tile begin in the result's first tile of rows. The divisions of a column's place are not for
// every tile of rows.
template<int bytes>
void find_lines(const StreamedBlock &b, int column, char **lines) {
    int in_run = column % b.run;
    char *run = b.written + column / b.run * b.run_stride;
    for (int i = 0; i < stream_line_bytes / bytes; i++) {
        lines[i] = run + in_run * b.column_stride;
        if (++in_run == b.run) in_run = 0, run += b.run_stride;
    }
}

// One vector of units of 4 bytes, each a column of 4 / bytes rows. In lane l it has columns of which the first is
// first_column(l, group).
template<class Isa, int bytes, int group>
KILN_IN_REGISTERS typename Isa::Vector units(const char *rows, int64_t stride) {
    if constexpr (bytes == 4) {
        return Isa::load(rows);
    } else if constexpr (bytes == 2) {
        const auto a = Isa::load(rows), b = Isa::load(rows + stride);
        return group ? Isa::template high<2>(a, b) : Isa::template low<2>(a, b);
    } else {
        const auto a = Isa::load(rows), b = Isa::load(rows + stride), c = Isa::load(rows + 2 * stride),
                   d = Isa::load(rows + 3 * stride);
        const auto ab = group / 2 ? Isa::template high<1>(a, b) : Isa::template low<1>(a, b);
        const auto cd = group / 2 ? Isa::template high<1>(c, d) : Isa::template low<1>(c, d);
        return group % 2 ? Isa::template high<2>(ab, cd) : Isa::template low<2>(ab, cd);
    }
}

template<int bytes>
constexpr int first_column(int lane, int group) {
    return lane * (16 / bytes) + group * 4;
}

// 4 lanes x 4 lanes units: the square of a lane is turned in it, then lanes are exchanged. Vector l * 4 + j becomes
// column j of lane l.
template<class Isa>
KILN_IN_REGISTERS void turn(typename Isa::Vector *v) {
    using Vector = typename Isa::Vector;
    Vector turned[4 * Isa::lanes];
#pragma GCC unroll 4
    for (int q = 0; q < Isa::lanes; q++) {
        const Vector *r = v + 4 * q;
        const Vector low01 = Isa::template low<4>(r[0], r[1]), high01 = Isa::template high<4>(r[0], r[1]);
        const Vector low23 = Isa::template low<4>(r[2], r[3]), high23 = Isa::template high<4>(r[2], r[3]);
        turned[4 * q] = Isa::template low<8>(low01, low23);
        turned[4 * q + 1] = Isa::template high<8>(low01, low23);
        turned[4 * q + 2] = Isa::template low<8>(high01, high23);
        turned[4 * q + 3] = Isa::template high<8>(high01, high23);
    }
    Isa::exchange_lanes(turned, v);
}

// All lines of a tile whose columns are in one group, whole: what is written of a line at once goes to memory at once.
template<class Isa, int bytes, bool streams, int group>
KILN_IN_REGISTERS void move_group(const char *rows, int64_t stride, char *const *lines, int64_t written) {
    constexpr int width = 16 * Isa::lanes, parts = stream_line_bytes / width, vectors = 4 * Isa::lanes;
    constexpr int packed_rows = 4 / bytes;
    typename Isa::Vector v[parts][vectors];
#pragma GCC unroll 4
    for (int part = 0; part < parts; part++) {
#pragma GCC unroll 8
        for (int i = 0; i < vectors; i++) {
            v[part][i] = units<Isa, bytes, group>(rows, stride);
            rows += packed_rows * stride;
            // Else the places of all rows are computed before the loop, more than there are registers for.
            asm("" : "+r"(rows));
        }
        turn<Isa>(v[part]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < vectors; i++) {
        char *line = lines[first_column<bytes>(i / 4, group) + i % 4] + written;
#pragma GCC unroll 4
        for (int part = 0; part < parts; part++) {
            if (streams) {
                Isa::stream(line + part * width, v[part][i]);
            } else {
                memcpy(line + part * width, &v[part][i], width);
            }
        }
    }
}

// A tile of a line's rows and columns.
template<class Isa, int bytes, bool streams>
KILN_IN_REGISTERS void move_tile(const char *rows, int64_t stride, char *const *lines, int64_t written) {
    constexpr int columns = 16 * Isa::lanes / bytes;  // of a load
    for (int first = 0; first < stream_line_bytes / bytes; first += columns) {
        move_group<Isa, bytes, streams, 0>(rows + first * bytes, stride, lines + first, written);
        if constexpr (bytes <= 2)
            move_group<Isa, bytes, streams, 1>(rows + first * bytes, stride, lines + first, written);
        if constexpr (bytes == 1) {
            move_group<Isa, bytes, streams, 2>(rows + first * bytes, stride, lines + first, written);
            move_group<Isa, bytes, streams, 3>(rows + first * bytes, stride, lines + first, written);
        }
    }
}

// So many rows of a tile that their lines on the way do not fit into L1 are fetched into L2.
template<int bytes>
void fetch_lines(const char *first, int64_t stride) {
    for (int i = 0; i < stream_line_bytes / bytes; i++) {
        _mm_prefetch(first + i * stride, bytes == 4 ? _MM_HINT_T0 : _MM_HINT_T1);
    }
}

template<class Isa, int bytes, bool streams>
void move_block(const StreamedBlock &b, int32_t fetch) {
    constexpr int line = stream_line_bytes / bytes;
    const char *next = b.read + b.rows * b.row_stride;
    for (int tile = 0; tile < b.columns; tile += line) {
        const int column = tile + line <= b.columns ? tile : b.columns - line;
        char *lines[line];
        find_lines<bytes>(b, column, lines);
        for (int row = 0; row < b.rows; row += line) {
            const char *rows = b.read + row * b.row_stride + column * bytes;
            if (fetch == fetch_rows) {
                fetch_lines<bytes>(rows + fetched_bytes_ahead, b.row_stride);
            } else if (fetch == fetch_block) {
                fetch_lines<bytes>(next, stream_line_bytes);
                next += line * stream_line_bytes;
            }
            move_tile<Isa, bytes, streams>(rows, b.row_stride, lines, int64_t(row) * bytes);
        }
    }
}

template<class Isa, int bytes>
void move_block(const StreamedBlock &b, int32_t fetch) {
    const uintptr_t places = reinterpret_cast<uintptr_t>(b.written) | b.column_stride | b.run_stride;
    if (places % stream_line_bytes == 0) {
        move_block<Isa, bytes, true>(b, fetch);
    } else {
        move_block<Isa, bytes, false>(b, fetch);
    }
}

template<class Isa>
int32_t stream_transpose(const void *operand, void *result, int64_t read_first, int64_t written_first,
                         int64_t row_stride, int64_t column_stride, int64_t run_stride, int32_t run, int32_t rows,
                         int32_t columns, int32_t element_bytes, int32_t fetch, int32_t last) {
    const StreamedBlock block = {static_cast<const char *>(operand) + read_first * element_bytes,
                                 static_cast<char *>(result) + written_first * element_bytes,
                                 row_stride * element_bytes,
                                 column_stride * element_bytes,
                                 run_stride * element_bytes,
                                 run,
                                 rows,
                                 columns};
    if (element_bytes == 4) move_block<Isa, 4>(block, fetch);
    if (element_bytes == 2) move_block<Isa, 2>(block, fetch);
    if (element_bytes == 1) move_block<Isa, 1>(block, fetch);
    if (last) _mm_sfence();
    return 0;
}

}  // namespace
}  // namespace kiln
