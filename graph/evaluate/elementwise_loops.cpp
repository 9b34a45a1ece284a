// Steps are computed one after the other for a block of elements, so that what a step is gets asked once a block.
#include <algorithm>
#include <cstdint>

#include "graph/evaluate/functions.h"
#include "graph/evaluate/operator_loops.h"
#include "graph/evaluate/walk.h"

namespace kiln::graph {
namespace {

constexpr int64_t block_size = 256;

// The elements of one operand in the order of the result, block by block.
class OperandReader {
public:
    OperandReader(const Numbers &numbers, const Shape &result)
        : numbers_(numbers), walk_(result, strides(numbers.form.shape, result)) {}

    void read(int64_t count, Block *block) {
        block->type = numbers_.form.type;
        if (const auto *floats = std::get_if<0>(&numbers_.elements)) {
            copy(*floats, count, &block->floats);
        } else {
            copy(*std::get_if<1>(&numbers_.elements), count, &block->integers);
        }
    }

private:
    static std::vector<int64_t> strides(const Shape &shape, const Shape &result) {
        std::vector<int64_t> own = row_major_strides(shape), aligned(result.size(), 0);
        for (size_t i = 0; i < shape.size(); i++) {
            if (shape[i] != 1) aligned[result.size() - shape.size() + i] = own[i];
        }
        return aligned;
    }

    template<typename T>
    void copy(const std::vector<T> &from, int64_t count, std::vector<T> *to) {
        to->resize(count);
        for (int64_t i = 0; i < count; i++, walk_.next()) (*to)[i] = from[walk_.offset()];
    }

    const Numbers &numbers_;
    Walk walk_;
};

void store(const Block &block, int64_t at, Numbers *result) {
    if (auto *floats = std::get_if<0>(&result->elements)) {
        std::ranges::copy(block.floats, floats->begin() + at);
    } else {
        std::ranges::copy(block.integers, std::get_if<1>(&result->elements)->begin() + at);
    }
}

}  // namespace

Status compute(const Elementwise &op, const Task &task) {
    const int64_t count = product(op.shape);
    std::vector<OperandReader> readers;
    for (const Numbers *input : task.inputs) readers.emplace_back(*input, op.shape);
    Program program(op.expression, readers.size());
    for (int64_t begin = 0; begin < count; begin += block_size) {
        if (task.interrupted()) return interrupted_error();
        const int64_t size = std::min(block_size, count - begin);
        for (size_t i = 0; i < readers.size(); i++) readers[i].read(size, &program.operands[i]);
        store(program.run(size), begin, task.result);
    }
    return {};
}

}  // namespace kiln::graph
