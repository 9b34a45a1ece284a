// Fetches as instructions of the kind that fills the L2 cache, or that takes a line to write it: one for each line in which a
// vector begins.
#include "generators/passes/fetched_lines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace kiln {
namespace {

using namespace Halide;

struct Row {
    const char *target;
    int lanes,
        steps;  // floats of a vector; steps of the sum, and rows of the output, in a loop's body, each with a vector
    const char *buffer, *instruction;
    int count;
    Access access = Access::read;
};

std::string assembly_of(Pipeline pipeline, const std::vector<Argument> &arguments, const char *name) {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("kiln-fetched-" + std::to_string(getpid()) + ".s");
    Target target(name);
    for (auto feature : {Target::NoRuntime, Target::NoAsserts, Target::NoBoundsQuery}) target.set_feature(feature);
    pipeline.compile_to_assembly(file.string(), arguments, "kernel", target);
    std::ifstream stream(file);
    std::string text((std::istreambuf_iterator<char>(stream)), {});
    std::filesystem::remove(file);
    return text;
}

// sum(x) = weights(x, r) * input(r) over r, r in a loop; output(x, y) = sum(x) + y, y in a loop.
std::string assembly_of(const Row &row) {
    ImageParam weights(Float(32), 2, "weights"), input(Float(32), 1, "input");
    weights.dim(0).set_bounds(0, row.lanes);
    weights.dim(1).set_bounds(0, 64).set_stride(row.lanes);
    input.dim(0).set_bounds(0, 64);
    const Var x("x"), y("y");
    const RDom r(0, 64, "r");
    Func sum("sum"), output("output");
    sum(x) += weights(x, r) * input(r);
    output(x, y) = sum(x) + y;
    output.output_buffer().dim(1).set_bounds(0, 64).set_stride(row.lanes);
    output.bound(x, 0, row.lanes).vectorize(x, row.lanes).unroll(y, row.steps);
    sum.compute_root().vectorize(x, row.lanes).update().vectorize(x, row.lanes);
    if (row.steps > 1) sum.update().unroll(r, row.steps);
    Pipeline pipeline(output);
    const std::string buffer = row.buffer == std::string("output") ? output.name() : row.buffer;
    fetch_ahead(pipeline, buffer, 8 << 10, row.access);
    return assembly_of(pipeline, {weights, input}, row.target);
}

int count(const std::string &text, const std::string &what) {
    int found = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) found++;
    return found;
}

TEST(FetchedLines, AreFetchedOnce) {
    const char *avx512 = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";
    const char *avx2 = "x86-64-linux-avx-avx2-f16c-fma-sse41";
    const Row rows[] = {
        {avx512, 16, 1, "weights", "prefetcht1", 1},
        {avx512, 16, 4, "weights", "prefetcht1", 4},
        {avx512, 32, 2, "weights", "prefetcht1", 2},  // the place of a vector is that of its first line
        {avx2, 8, 1, "weights", "prefetcht1", 1},
        {avx2, 8, 4, "weights", "prefetcht1", 2},  // two vectors a line
        {"x86-64-linux", 4, 8, "weights", "prefetcht1", 2},
        {"arm-64-linux", 4, 8, "weights", "pldl2keep", 2},
        {avx512, 16, 4, "input", "prefetch", 0},  // one number for all lanes: no vector of it is loaded
        {avx512, 16, 4, "nothing", "prefetch", 0},
        {avx512, 16, 1, "output", "prefetchw", 1, Access::written},
        {avx512, 16, 4, "output", "prefetchw", 4, Access::written},
        {avx2, 8, 4, "output", "prefetcht1", 2, Access::written},  // no feature that Halide knows promises the other
        {"arm-64-linux", 4, 8, "output", "pstl2keep", 2, Access::written},
        {avx512, 16, 4, "output", "prefetch", 0},  // nothing reads it
        {avx512, 16, 4, "weights", "prefetch", 0, Access::written},
    };
    for (const Row &row : rows) {
        const std::string text = assembly_of(row);
        EXPECT_GT(text.size(), 100u);
        EXPECT_EQ(count(text, row.instruction), row.count)
            << row.target << ", " << row.lanes << " lanes, " << row.steps << " steps, " << row.buffer;
    }
}

// output(x, y) = addend(x, y) plus a sum, which is a loop in the body of the loop over y, or is unrolled.
TEST(FetchedLines, OfAnEpilogueAreFetchedBeforeItsSum) {
    const struct {
        const char *what;
        int lanes, rows, unroll;  // rows of a tile; steps of the sum's loop that are unrolled
        const char *buffer;
        int count;
    } table[] = {
        {"a row of one line", 16, 1, 1, "addend", 1}, {"three rows, each a line", 16, 3, 1, "addend", 3},
        {"two lines a row", 32, 2, 1, "addend", 4},   {"no loop", 16, 1, 64, "addend", 0},
        {"what the sum reads", 16, 1, 1, "input", 0}, {"nothing", 16, 1, 1, "nothing", 0},
    };
    for (const auto &row : table) {
        ImageParam addend(Float(32), 2, "addend"), input(Float(32), 2, "input");
        for (const ImageParam &p : {addend, input}) {
            ImageParam image = p;
            image.dim(0).set_bounds(0, row.lanes);
            image.dim(1).set_bounds(0, 66).set_stride(row.lanes);
        }
        const Var x("x"), y("y"), tile("tile");
        const RDom r(0, 64, "r");
        Func sum("sum"), output("output");
        sum(x, y) += input(x, r) * cast<float>(y);
        output(x, y) = sum(x, y) + addend(x, y);
        output.output_buffer().dim(1).set_bounds(0, 66).set_stride(row.lanes);
        output.bound(x, 0, row.lanes).bound(y, 0, 66).vectorize(x, 8).unroll(x).split(y, tile, y, row.rows).unroll(y);
        output.reorder(x, y, tile);
        sum.compute_at(output, tile).vectorize(x, 8).unroll(x).unroll(y);
        sum.update().reorder(x, y, r).vectorize(x, 8).unroll(x).unroll(y);
        if (row.unroll > 1) sum.update().unroll(r, row.unroll);
        Pipeline pipeline(output);
        fetch_before_loops(pipeline, row.buffer);
        const std::string text = assembly_of(pipeline, {addend, input}, "x86-64-linux-avx-avx2-f16c-fma-sse41");
        EXPECT_EQ(count(text, "prefetcht0"), row.count) << row.what;
        EXPECT_EQ(count(text, "prefetch"), row.count) << row.what;
    }
}

// A schedule's own prefetch passes no cache by.
TEST(FetchedLines, OfSchedulesFillCaches) {
    ImageParam input(Float(32), 2, "input");
    const Var x("x"), y("y");
    Func output("output");
    output(x, y) = input(x, y) * 2;
    output.prefetch(input, y, y, 1, PrefetchBoundStrategy::NonFaulting);
    Pipeline pipeline(output);
    fetch_into_caches(pipeline);
    const std::string text = assembly_of(pipeline, {input}, "x86-64-linux-avx-avx2-f16c-fma-sse41");
    EXPECT_EQ(count(text, "prefetchnta"), 0);
    EXPECT_GT(count(text, "prefetcht0"), 0);
}

}  // namespace
}  // namespace kiln
