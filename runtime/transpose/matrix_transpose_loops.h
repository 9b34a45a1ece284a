// The loops of runtime/transpose/matrix_transpose.h for one kind of vectors. Included by one file a CPU, each with its
// own flags, so everything here is local to the file.
//
// Isa has, for vectors of `lanes` times 16 bytes: load, load_first and load_second (16 bytes into the one lane, or into
// the other of two), low and high (interleave the lower or upper halves of each lane of two vectors, by elements of 1,
// 2 or 4 bytes), exchange_lanes (of the first vectors and as many others) and stream.
#pragma once

#include <string.h>
#include <xmmintrin.h>

#include "runtime/transpose/matrix_transpose.h"

namespace kiln {
namespace {

constexpr int fetched_bytes_ahead = 512;

// Vectors in arrays stay in registers only where loops are unrolled and calls inlined.
#define KILN_IN_REGISTERS inline __attribute__((always_inline))

struct TransposedBlock {
    const char *read;
    char *written;
    int64_t row_stride, column_stride, run_stride;  // bytes
    int run, rows, columns;
};

// Where the lines of a tile begin in the result's first tile of rows.
template<int bytes>
void find_lines(const TransposedBlock &b, int column, char **lines) {
    constexpr int line = transposed_line_bytes / bytes;
    int in_run = column % b.run;
    char *run = b.written + column / b.run * b.run_stride;
    // This is the usual case. Without a branch for each line the whole function takes a fifth less time.
    if (in_run + line <= b.run) {
        for (int i = 0; i < line; i++) lines[i] = run + (in_run + i) * b.column_stride;
        return;
    }
    for (int i = 0; i < line; i++) {
        lines[i] = run + in_run * b.column_stride;
        if (++in_run == b.run) in_run = 0, run += b.run_stride;
    }
}

// Reads consecutive rows one after the other. Otherwise the addresses of all rows are computed before a loop, and there
// are not enough registers for them.
KILN_IN_REGISTERS const char *next_row(const char *row, int64_t stride) {
    row += stride;
    asm("" : "+r"(row));
    return row;
}

// In each lane, vectors i of row i become vectors i of column i. One step interleaves the first half of the vectors
// with the second; log2(count) steps make the transpose.
template<class Isa, int bytes, int count>
KILN_IN_REGISTERS void turn(typename Isa::Vector *v) {
#pragma GCC unroll 4
    for (int done = 1; done < count; done *= 2) {
        typename Isa::Vector mixed[count];
#pragma GCC unroll 8
        for (int i = 0; i < count / 2; i++) {
            mixed[2 * i] = Isa::template low<bytes>(v[i], v[i + count / 2]);
            mixed[2 * i + 1] = Isa::template high<bytes>(v[i], v[i + count / 2]);
        }
#pragma GCC unroll 8
        for (int i = 0; i < count; i++) v[i] = mixed[i];
    }
}

// The number of columns whose whole lines are in registers at the same time. A line that is written at once goes to
// memory at once.
template<class Isa, int bytes>
constexpr int turned_columns = bytes == 4 ? 4 * Isa::lanes : 8;

// Elements of 4 bytes: whole vectors of rows, whose lanes are exchanged after each has been turned.
template<class Isa>
KILN_IN_REGISTERS void load_turned_words(const char *row, int64_t stride, typename Isa::Vector *v) {
#pragma GCC unroll 8
    for (int i = 0; i < 4 * Isa::lanes; i++, row = next_row(row, stride)) v[i] = Isa::load(row);
#pragma GCC unroll 2
    for (int lane = 0; lane < Isa::lanes; lane++) turn<Isa, 4, 4>(v + 4 * lane);
    Isa::template exchange_lanes<4>(v);
}

// Elements of 2 bytes, for which that would need too many registers: each lane has the same columns, of rows of its
// own.
template<class Isa>
KILN_IN_REGISTERS void load_turned_halfwords(const char *row, int64_t stride, typename Isa::Vector *v) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++, row = next_row(row, stride)) v[i] = Isa::load_first(row);
    if constexpr (Isa::lanes == 2) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++, row = next_row(row, stride)) v[i] = Isa::load_second(v[i], row);
    }
    turn<Isa, 2, 8>(v);
}

// Elements of one byte: takes what pair_rows() has made of 8 columns.
template<class Isa>
KILN_IN_REGISTERS void load_turned_bytes(const char *pairs, typename Isa::Vector *v) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) v[i] = Isa::load(pairs + i * 16 * Isa::lanes);
    turn<Isa, 1, 8>(v);
}

// The columns at `from`, which for elements of a byte are pairs.
template<class Isa, int bytes, bool past_caches>
KILN_IN_REGISTERS void move_columns(const char *from, int64_t stride, char *const *lines, int64_t written) {
    constexpr int width = 16 * Isa::lanes, parts = transposed_line_bytes / width, count = turned_columns<Isa, bytes>;
    typename Isa::Vector v[parts][count];
#pragma GCC unroll 4
    for (int part = 0; part < parts; part++) {
        if constexpr (bytes == 1) load_turned_bytes<Isa>(from + part * 8 * width, v[part]);
        if constexpr (bytes == 2) load_turned_halfwords<Isa>(from + part * 8 * Isa::lanes * stride, stride, v[part]);
        if constexpr (bytes == 4) load_turned_words<Isa>(from + part * 4 * Isa::lanes * stride, stride, v[part]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < count; i++) {
#pragma GCC unroll 4
        for (int part = 0; part < parts; part++) {
            char *to = lines[i] + written + part * width;
            if (past_caches) {
                Isa::stream(to, v[part][i]);
            } else {
                memcpy(to, &v[part][i], width);
            }
        }
    }
}

// The first of the four steps that turn squares of bytes: rows i and i + 8 of each 16 are interleaved. All vectors of 8
// columns come first, then those of the next 8. The 64 rows of a tile often lie in the same bank of L1; here each line
// is read once, as a whole.
template<class Isa>
KILN_IN_REGISTERS void pair_rows(const char *rows, int64_t stride, char *pairs) {
    constexpr int width = 16 * Isa::lanes, parts = transposed_line_bytes / width,
                  of_columns = 8 * transposed_line_bytes;
    for (int part = 0; part < parts; part++) {
#pragma GCC unroll 2
        for (int i = 0; i < 8; i++) {
            const char *row = rows + (part * 16 * Isa::lanes + i) * stride;
            char *to = pairs + (part * 8 + i) * width;
#pragma GCC unroll 4
            for (int column = 0; column < transposed_line_bytes; column += width) {
                typename Isa::Vector low[Isa::lanes], high[Isa::lanes];
#pragma GCC unroll 2
                for (int lane = 0; lane < Isa::lanes; lane++) {
                    const char *upper = row + lane * 16 * stride + column;
                    const auto a = Isa::load(upper), b = Isa::load(upper + 8 * stride);
                    low[lane] = Isa::template low<1>(a, b);
                    high[lane] = Isa::template high<1>(a, b);
                }
                Isa::template exchange_lanes<1>(low);
                Isa::template exchange_lanes<1>(high);
#pragma GCC unroll 2
                for (int lane = 0; lane < Isa::lanes; lane++, to += 2 * of_columns) {
                    memcpy(to, &low[lane], width);
                    memcpy(to + of_columns, &high[lane], width);
                }
            }
        }
    }
}

// A tile of a line's rows and columns.
template<class Isa, int bytes, bool past_caches>
KILN_IN_REGISTERS void move_tile(const char *rows, int64_t stride, char *const *lines, int64_t written) {
    constexpr int line = transposed_line_bytes / bytes, columns = turned_columns<Isa, bytes>;
    alignas(transposed_line_bytes) char pairs[bytes == 1 ? line * line : 1];
    if constexpr (bytes == 1) pair_rows<Isa>(rows, stride, pairs);
    for (int column = 0; column < line; column += columns) {
        const char *from = bytes == 1 ? pairs + column * transposed_line_bytes : rows + column * bytes;
        move_columns<Isa, bytes, past_caches>(from, stride, lines + column, written);
    }
}

// Fetches into L2: L1 has no room for more lines beside those of the block.
template<int bytes>
void fetch_lines(const char *first, int64_t stride) {
    for (int i = 0; i < transposed_line_bytes / bytes; i++) _mm_prefetch(first + i * stride, _MM_HINT_T1);
}

// Where tiles do not divide the block, the last tiles end where the block ends. They write some elements a second time.
template<class Isa, int bytes, bool past_caches>
void move_block(const TransposedBlock &b, int32_t fetch) {
    constexpr int line = transposed_line_bytes / bytes;
    const char *next = b.read + b.rows * b.row_stride;
    for (int tile = 0; tile < b.columns; tile += line) {
        const int column = tile + line <= b.columns ? tile : b.columns - line;
        char *lines[line];
        find_lines<bytes>(b, column, lines);
        for (int tile_row = 0; tile_row < b.rows; tile_row += line) {
            const int row = tile_row + line <= b.rows ? tile_row : b.rows - line;
            const char *rows = b.read + row * b.row_stride + column * bytes;
            if (fetch == fetch_rows) {
                fetch_lines<bytes>(rows + fetched_bytes_ahead, b.row_stride);
            } else if (fetch == fetch_block) {
                fetch_lines<bytes>(next, transposed_line_bytes);
                next += line * transposed_line_bytes;
            }
            move_tile<Isa, bytes, past_caches>(rows, b.row_stride, lines, int64_t(row) * bytes);
        }
    }
}

template<class Isa, int bytes>
void move_block(const TransposedBlock &b, int32_t fetch, int32_t past_caches) {
    const uintptr_t places = reinterpret_cast<uintptr_t>(b.written) | b.column_stride | b.run_stride | b.rows * bytes;
    if (past_caches && places % transposed_line_bytes == 0) {
        move_block<Isa, bytes, true>(b, fetch);
    } else {
        move_block<Isa, bytes, false>(b, fetch);
    }
}

template<class Isa>
int32_t transpose(const void *operand, void *result, int64_t read_first, int64_t written_first, int64_t row_stride,
                  int64_t column_stride, int64_t run_stride, int32_t run, int32_t rows, int32_t columns,
                  int32_t element_bytes, int32_t fetch, int32_t past_caches, int32_t last) {
    const TransposedBlock block = {static_cast<const char *>(operand) + read_first * element_bytes,
                                   static_cast<char *>(result) + written_first * element_bytes,
                                   row_stride * element_bytes,
                                   column_stride * element_bytes,
                                   run_stride * element_bytes,
                                   run,
                                   rows,
                                   columns};
    if (element_bytes == 4) move_block<Isa, 4>(block, fetch, past_caches);
    if (element_bytes == 2) move_block<Isa, 2>(block, fetch, past_caches);
    if (element_bytes == 1) move_block<Isa, 1>(block, fetch, past_caches);
    if (past_caches && last) _mm_sfence();
    return 0;
}

}  // namespace
}  // namespace kiln
