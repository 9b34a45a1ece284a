// What joined steps leave unused of the memory between steps.
#include "network/joining/unused_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "workload/workload.h"

namespace kiln::network {
namespace {

constexpr int64_t network_input = -1;

Place at(int64_t offset) {
    if (offset == network_input) return {Place::Memory::input, 0, 0};
    return {Place::Memory::workspace, 0, offset};
}

// Of 16 numbers each, 64 bytes.
Step kernel(int64_t from, int64_t to) {
    const Workload negative = *parse_workload_key("nest/loops:16/operands:16/reads:x0[i0]/term:neg(x0)");
    return {.name = "kernel", .origins = {}, .work = KernelCall{negative, {at(from)}, at(to)}};
}

Step copy(int64_t from, int64_t to, int64_t bytes) {
    return {.name = "copy", .origins = {}, .work = Copy{.from = at(from), .to = at(to), .row_bytes = bytes}};
}

std::string told(const Program &program) {
    std::string text;
    const auto tell = [&](const Place &place) {
        return place.memory == Place::Memory::workspace ? std::to_string(place.offset) : "x";
    };
    for (const Step &step : program.steps) {
        const auto *call = std::get_if<KernelCall>(&step.work);
        const auto *copied = std::get_if<Copy>(&step.work);
        text += (text.empty() ? "" : ", ") + tell(call ? call->operands[0] : copied->from) + " to " +
                tell(call ? call->result : copied->to);
    }
    return text + "; " + std::to_string(program.workspace) + " bytes, at least " +
           std::to_string(program.workspace_lower_bound);
}

TEST(UnusedMemory, IsLeftOut) {
    const struct {
        const char *what;
        std::vector<Step> steps;
        int64_t workspace, lower_bound;
        std::string told;
    } cases[] = {
        {"all is used",
         {kernel(network_input, 0), kernel(0, 64)},
         128,
         128,
         "x to 0, 0 to 64; 128 bytes, at least 128"},
        {"a stretch in the middle",
         {kernel(network_input, 0), kernel(0, 1024), kernel(1024, 2048)},
         2112,
         1100,
         "x to 0, 0 to 64, 64 to 128; 192 bytes, at least 192"},
        {"at the beginning and the end", {kernel(network_input, 640)}, 1024, 64, "x to 0; 64 bytes, at least 64"},
        {"parts of one buffer stay together",
         {copy(network_input, 640, 256), kernel(704, 128), copy(832, 64, 32)},
         1024,
         1024,
         "x to 128, 192 to 64, 320 to 0; 384 bytes, at least 384"},
        {"what is not aligned keeps its distance",
         {copy(network_input, 648, 20), kernel(network_input, 256), copy(652, 256, 4)},
         1024,
         1024,
         "x to 72, x to 0, 76 to 0; 128 bytes, at least 128"},
        {"no bytes lie anywhere",
         {copy(900, 950, 0), kernel(network_input, 512)},
         1024,
         64,
         "64 to 64, x to 0; 64 bytes, at least 64"},
        {"nothing is used", {}, 512, 512, "; 0 bytes, at least 0"},
    };
    for (const auto &c : cases) {
        Program program;
        program.steps = c.steps, program.workspace = c.workspace, program.workspace_lower_bound = c.lower_bound;
        leave_out_unused_memory(&program);
        EXPECT_EQ(told(program), c.told) << c.what;
    }
}

}  // namespace
}  // namespace kiln::network
