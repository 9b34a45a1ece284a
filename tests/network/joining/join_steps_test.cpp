// Steps of programs that become part of the step that reads their result.
#include "network/joining/join_steps.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "workload/workload.h"

namespace kiln::network {
namespace {

constexpr int64_t bytes_of_tensor = 64;  // 16 numbers

Workload nest_workload_of(const std::string &text) {
    const auto workload = parse_workload_key("nest/" + text);
    EXPECT_TRUE(workload) << text << ": " << workload.error().message;
    return *workload;
}

Workload elementwise(const std::string &term) {
    const bool has_two = term.find("x1") != std::string::npos;
    return nest_workload_of(std::string("loops:16/operands:16") + (has_two ? ",16" : "") + "/reads:x0[i0]" +
                            (has_two ? ";x1[i0]" : "") + "/term:" + term);
}

// Tensors of the workspace have numbers from 0 on, the network's inputs from 100 on.
constexpr int first_input = 100;

Place place_of(int tensor) {
    if (tensor >= first_input) return {Place::Memory::input, tensor - first_input, 0};
    return {Place::Memory::workspace, 0, tensor * bytes_of_tensor};
}

Step step_of(Workload workload, const std::vector<int> &operands, int result, std::vector<int> reads) {
    KernelCall call{std::move(workload), {}, place_of(result)};
    for (const int tensor : operands) call.operands.push_back(place_of(tensor));
    return {.name = "step", .origins = {}, .work = std::move(call), .reads = std::move(reads)};
}

// "neg(x0) 0 -> 1 by 0": what is computed, of what, where, and the steps that computed what it reads.
std::string told_steps(const Program &program) {
    const auto number = [](const Place &place) {
        return std::to_string(place.memory == Place::Memory::input ? first_input + place.index
                                                                   : place.offset / bytes_of_tensor);
    };
    std::string text;
    for (const Step &step : program.steps) {
        const auto &call = std::get<KernelCall>(step.work);
        const std::string key = kiln::key(call.workload), term = "/term:";
        text += (text.empty() ? "" : "; ") + key.substr(key.find(term) + term.size());
        for (const Place &operand : call.operands) text += " " + number(operand);
        text += " -> " + number(call.result) + " by";
        for (const int read : step.reads) text += " " + std::to_string(read);
    }
    return text;
}

TEST(JoinSteps, table) {
    const Workload relu = elementwise("max(x0,0)"), negative = elementwise("neg(x0)"), sum = elementwise("add(x0,x1)");
    const struct {
        const char *what;
        std::vector<Step> steps;
        std::string told;
    } cases[] = {
        {"two", {step_of(relu, {100}, 0, {}), step_of(negative, {0}, 1, {0})}, "neg(max(x0,0)) 100 -> 1 by"},
        {"three",
         {step_of(relu, {100}, 0, {}), step_of(negative, {0}, 1, {0}), step_of(relu, {1}, 0, {1})},
         "max(neg(max(x0,0)),0) 100 -> 0 by"},
        {"not one that two steps read",
         {step_of(relu, {100}, 0, {}), step_of(negative, {0}, 1, {0}), step_of(negative, {0}, 2, {0})},
         "max(x0,0) 100 -> 0 by; neg(x0) 0 -> 1 by 0; neg(x0) 0 -> 2 by 0"},
        {"nor one that a step reads twice, when another is part of that",
         {step_of(relu, {100}, 0, {}), step_of(negative, {0}, 1, {0}), step_of(sum, {0, 1}, 2, {0, 1})},
         "max(x0,0) 100 -> 0 by; add(x0,neg(x1)) 0 0 -> 2 by 0"},
        {"a place is used again",
         {step_of(relu, {100}, 0, {}), step_of(negative, {0}, 1, {0}), step_of(relu, {101}, 0, {}),
          step_of(sum, {0, 1}, 2, {1, 2})},
         "add(max(x0,0),neg(max(x1,0))) 101 100 -> 2 by"},
        {"not where what it reads is written over",
         {step_of(relu, {100}, 0, {}), step_of(negative, {0}, 1, {0}), step_of(sum, {0, 100}, 0, {0}),
          step_of(relu, {1}, 2, {1}), step_of(sum, {0, 0}, 3, {2})},
         "max(x0,0) 100 -> 0 by; neg(x0) 0 -> 1 by 0; add(x0,x1) 0 100 -> 0 by 0; max(x0,0) 1 -> 2 by 1; "
         "add(x0,x1) 0 0 -> 3 by 2"},
        {"but where what writes over it becomes part of a later step",
         {step_of(relu, {100}, 0, {}), step_of(negative, {0}, 1, {0}), step_of(sum, {0, 101}, 0, {0}),
          step_of(relu, {1}, 2, {1}), step_of(negative, {0}, 3, {2})},
         "max(x0,0) 100 -> 0 by; max(neg(x0),0) 0 -> 2 by 0; neg(add(x0,x1)) 0 101 -> 3 by 0"},
        {"and then also into what reads that",
         {step_of(relu, {100}, 0, {}), step_of(negative, {0}, 1, {0}), step_of(sum, {0, 101}, 0, {0}),
          step_of(relu, {1}, 2, {1}), step_of(relu, {102}, 1, {}), step_of(negative, {2}, 4, {3}),
          step_of(negative, {0}, 3, {2})},
         "max(x0,0) 100 -> 0 by; max(x0,0) 102 -> 1 by; neg(max(neg(x0),0)) 0 -> 4 by 0; "
         "neg(add(x0,x1)) 0 101 -> 3 by 0"},
    };
    for (const auto &c : cases) {
        Program program{.steps = c.steps};
        join_steps({}, &program);
        EXPECT_EQ(told_steps(program), c.told) << c.what;
        const Program once = program;
        join_steps({}, &program);
        EXPECT_TRUE(program == once) << c.what;
    }
}

TEST(JoinSteps, OneNestTakesThePlaceOfTwoThatTakeLonger) {
    const struct {
        std::optional<double> both;
        bool hopes;
        size_t steps;
    } cases[] = {{15, false, 1}, {25, false, 2}, {25, true, 2}, {std::nullopt, false, 2}, {std::nullopt, true, 1}};
    for (const auto &c : cases) {
        Program program{
            .steps = {step_of(elementwise("max(x0,0)"), {100}, 0, {}), step_of(elementwise("neg(x0)"), {0}, 1, {0})}};
        const auto time = [&](const Workload &workload) {
            return key(workload).find("neg(max") == std::string::npos ? std::optional(10.0) : c.both;
        };
        join_steps({time, c.hopes}, &program);
        EXPECT_EQ(program.steps.size(), c.steps) << c.both.value_or(0) << c.hopes;
    }
}

// x -= sum(x * x), again and again: a search that begins anew behind each join takes minutes.
TEST(JoinSteps, TenThousandPairsOfALongProgram) {
    const Workload square = elementwise("mul(x0,x1)"),
                   sums = nest_workload_of("loops:4/over:4/operands:4x4/reduction:sum/reads:x0[i0,r0]/term:x0"),
                   less = nest_workload_of("loops:4x4/operands:4x4,4/reads:x0[i0,i1];x1[i0]/term:sub(x0,x1)");
    constexpr int times = 10'000;
    Program program{.steps = {step_of(elementwise("max(x0,0)"), {100}, 0, {})}};
    for (int i = 0, x = 0; i < times; i++, x += 3) {
        program.steps.push_back(step_of(square, {0, 0}, 1, {x}));
        program.steps.push_back(step_of(sums, {1}, 2, {x + 1}));
        program.steps.push_back(step_of(less, {0, 2}, 0, {x, x + 2}));
    }
    join_steps({}, &program);
    ASSERT_EQ(program.steps.size(), size_t(1 + 2 * times));
    EXPECT_EQ(program.steps.back().reads, (std::vector<int>{2 * times - 2, 2 * times - 1}));
}

}  // namespace
}  // namespace kiln::network
