#include "runtime/transpose/matrix_transpose.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#if defined(__x86_64__)

namespace kiln {
namespace {

using MatrixTransposeFunction = decltype(&kiln_transpose1_sse2);

std::vector<std::pair<const char *, MatrixTransposeFunction>> functions_of_this_cpu() {
    std::vector<std::pair<const char *, MatrixTransposeFunction>> all = {{"sse2", kiln_transpose1_sse2}};
    if (__builtin_cpu_supports("avx2")) all.emplace_back("avx2", kiln_transpose1_avx2);
    return all;
}

// Memory of which `bytes` begin `offset` bytes after a line.
class Memory {
public:
    Memory(size_t bytes, size_t offset)
        : block_(new (std::align_val_t(64)) char[offset + bytes]), first_(block_ + offset) {
        std::memset(block_, 0x5a, offset + bytes);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory() { operator delete[](block_, std::align_val_t(64)); }
    char *first() { return first_; }

private:
    char *block_, *first_;
};

struct Row {
    int bytes, rows, columns, run;
    size_t offset;  // of the result from a line's start
    int fetch;
    int64_t gap = 0;  // more elements between columns of the result than whole lines
};

constexpr Row table[] = {
    // Whole tiles; one and several on either side.
    {4, 16, 16, 16, 0, fetch_nothing},
    {4, 64, 16, 16, 0, fetch_block},
    {4, 16, 64, 64, 0, fetch_rows},
    {2, 32, 32, 32, 0, fetch_nothing},
    {2, 96, 64, 64, 0, fetch_rows},
    {1, 64, 64, 64, 0, fetch_nothing},
    {1, 128, 192, 192, 0, fetch_block},
    // Columns that tiles do not divide.
    {4, 32, 17, 17, 0, fetch_rows},
    {4, 16, 49, 49, 0, fetch_block},
    {2, 32, 63, 63, 0, fetch_rows},
    {1, 64, 65, 65, 0, fetch_rows},
    // Runs: they end within tiles, at their ends, and are shorter than one.
    {4, 16, 144, 9, 0, fetch_rows},
    {4, 32, 32, 16, 0, fetch_nothing},
    {2, 32, 50, 25, 0, fetch_rows},
    {2, 64, 33, 1, 0, fetch_nothing},
    {1, 64, 66, 3, 0, fetch_rows},
    // Results that are not at lines.
    {4, 32, 40, 40, 4, fetch_rows},
    {2, 64, 40, 8, 2, fetch_rows},
    {1, 128, 70, 70, 33, fetch_block},
    {4, 32, 40, 40, 0, fetch_rows, 1},
    {1, 64, 70, 7, 0, fetch_nothing, 5},
    // Rows that tiles do not divide.
    {4, 17, 40, 40, 0, fetch_rows},
    {4, 47, 16, 16, 4, fetch_block},
    {2, 33, 64, 8, 0, fetch_nothing},
    {2, 95, 33, 33, 0, fetch_rows},
    {1, 65, 64, 64, 0, fetch_nothing},
    {1, 190, 67, 67, 1, fetch_block},
};

TEST(MatrixTranspose, WritesEveryElementOfTheBlockAndNothingElse) {
    for (const auto &[name, transpose] : functions_of_this_cpu()) {
        for (int i = 0; i < 2 * static_cast<int>(std::size(table)); i++) {
            const Row &row = table[i / 2];
            const int past_caches = i % 2;
            SCOPED_TRACE(testing::Message()
                         << name << " bytes " << row.bytes << " rows " << row.rows << " columns " << row.columns
                         << " run " << row.run << " offset " << row.offset << " past caches " << past_caches);
            // The operand's block ends its memory; the result's lines have others between them and before.
            const int64_t row_stride = row.columns + 3, column_stride = 2 * row.rows + row.gap;
            const int64_t runs = row.columns / row.run, run_stride = column_stride * row.run + row.rows;
            const int64_t read_first = 5, written_first = row.rows;
            const int64_t operand_elements = read_first + (row.rows - 1) * row_stride + row.columns;
            const int64_t result_elements = written_first + runs * run_stride;
            Memory operand(operand_elements * row.bytes, 0), result(result_elements * row.bytes, row.offset);
            for (int64_t k = 0; k < operand_elements * row.bytes; k++) {
                operand.first()[k] = static_cast<char>((k * 2654435761u) >> 13);
            }
            std::vector<char> expected(result.first(), result.first() + result_elements * row.bytes);
            for (int64_t r = 0; r < row.rows; r++) {
                for (int64_t c = 0; c < row.columns; c++) {
                    const int64_t to = written_first + c % row.run * column_stride + c / row.run * run_stride + r;
                    std::memcpy(&expected[to * row.bytes],
                                operand.first() + (read_first + r * row_stride + c) * row.bytes, row.bytes);
                }
            }
            EXPECT_EQ(transpose(operand.first(), result.first(), read_first, written_first, row_stride, column_stride,
                                run_stride, row.run, row.rows, row.columns, row.bytes, row.fetch, past_caches, 1),
                      0);
            EXPECT_EQ(std::memcmp(expected.data(), result.first(), expected.size()), 0);
        }
    }
}

}  // namespace
}  // namespace kiln
#endif
