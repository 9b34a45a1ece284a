#include "generators/movement/fetched_block.h"

namespace kiln {
namespace {

using namespace Halide;

constexpr int64_t line_bytes = 64;

}  // namespace

Func fetched_block(const MemoryBlock &block, const std::vector<Var> &arguments) {
    const Type element = block.buffer.type();
    const int line = static_cast<int>(line_bytes / element.bytes());
    const bool dense = block.run == block.row_stride;
    const int64_t run = dense ? block.run * block.rows : block.run, rows = dense ? 1 : block.rows;
    const RDom lines(0, static_cast<int>((run + line - 1) / line), 0, static_cast<int>(rows), "lines");
    const Expr memory = Internal::Variable::make(Handle(), block.buffer.name(), block.buffer);
    const Expr place = block.first + lines.y * static_cast<int>(block.row_stride) + lines.x * line;
    const Expr fetch =
        Internal::Call::make(element, Internal::Call::prefetch, {memory, place, 1, line}, Internal::Call::Intrinsic);
    Func fetched("fetched");
    fetched(arguments) = cast(element, 0);
    fetched(arguments) = fetched(arguments) | fetch;
    return fetched;
}

}  // namespace kiln
