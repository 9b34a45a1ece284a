#include "tuner/budget/kernel_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

#include "tests/test_seed.h"

namespace kiln {
namespace {

// Every choice there is.
std::optional<KernelChoice> brute_force(const std::vector<LayerKernels> &layers, const MemoryBudget &budget) {
    std::optional<KernelChoice> best;
    std::vector<size_t> at(layers.size(), 0);
    for (;;) {
        KernelChoice choice{at};
        std::set<std::string> code;
        for (size_t i = 0; i < layers.size(); i++) {
            const KernelOption &o = layers[i].options[at[i]];
            choice.cycles += o.cycles;
            if (code.insert(o.code).second) choice.text += o.text;
            choice.stack = std::max(choice.stack, o.stack), choice.workspace = std::max(choice.workspace, o.workspace);
        }
        const bool fits =
            choice.text <= budget.text && choice.stack <= budget.stack && choice.workspace <= budget.workspace;
        if (fits && (!best || choice.cycles < best->cycles)) best = choice;
        size_t layer = 0;
        while (layer < layers.size() && ++at[layer] == layers[layer].options.size()) at[layer++] = 0;
        if (layer == layers.size()) return best;
    }
}

std::vector<LayerKernels> drawn_layers(std::mt19937_64 &random) {
    const auto number = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most)); };
    std::vector<LayerKernels> layers(static_cast<size_t>(1 + number(5)));
    for (size_t i = 0; i < layers.size(); i++) {
        layers[i].layer = "layer" + std::to_string(i);
        for (int64_t n = 1 + number(5); n > 0; n--) {
            // Some code is the same in several layers, and then as large.
            const bool shares = number(3) == 0;
            const int64_t which = number(3);
            const std::string code = shares ? "s" + std::to_string(which) : std::to_string(random());
            layers[i].options.push_back(
                {code, 1 + number(50), shares ? 10 + which : 1 + number(30), number(20), number(20)});
        }
    }
    return layers;
}

TEST(KernelChoice, IsTheBestOfAll) {
    std::mt19937_64 random(test_seed());
    for (int round = 0; round < 400; round++) {
        const std::vector<LayerKernels> layers = drawn_layers(random);
        MemoryBudget budget;
        if (random() % 4 != 0) budget.text = static_cast<int64_t>(random() % 90);
        if (random() % 3 == 0) budget.stack = static_cast<int64_t>(random() % 25);
        if (random() % 3 == 0) budget.workspace = static_cast<int64_t>(random() % 25);
        const auto expected = brute_force(layers, budget);
        const auto choice = best_choice(layers, budget);
        ASSERT_EQ(choice.ok(), expected.has_value()) << "round " << round;
        if (!expected) continue;
        EXPECT_EQ(choice->cycles, expected->cycles) << "round " << round;
        EXPECT_LE(choice->text, budget.text);
        EXPECT_LE(choice->stack, budget.stack);
        EXPECT_LE(choice->workspace, budget.workspace);
        int64_t cycles = 0;
        for (size_t i = 0; i < layers.size(); i++) cycles += layers[i].options.at(choice->options.at(i)).cycles;
        EXPECT_EQ(cycles, choice->cycles);
    }
}

TEST(KernelChoice, EveryLimitOfCodeHasItsChoice) {
    std::mt19937_64 random(test_seed() + 1);
    for (int round = 0; round < 100; round++) {
        const std::vector<LayerKernels> layers = drawn_layers(random);
        const auto choices = pareto_choices(layers, {});
        ASSERT_TRUE(choices);
        for (int64_t text = 0; text < 120; text++) {
            MemoryBudget budget;
            budget.text = text;
            const auto expected = brute_force(layers, budget);
            const KernelChoice *found = nullptr;
            for (const KernelChoice &choice : *choices) found = choice.text <= text ? &choice : found;
            ASSERT_EQ(found != nullptr, expected.has_value()) << "round " << round << ", " << text;
            if (!found) continue;
            EXPECT_EQ(found->cycles, expected->cycles) << "round " << round << ", " << text;
        }
        for (size_t i = 1; i < choices->size(); i++) {
            EXPECT_GT(choices->at(i).text, choices->at(i - 1).text);
            EXPECT_LT(choices->at(i).cycles, choices->at(i - 1).cycles);
        }
    }
}

TEST(KernelChoice, SaysTheLeastThatIsPossible) {
    const std::vector<LayerKernels> layers = {{"net/a", {{"x", 10, 100, 16, 0}, {"y", 20, 60, 48, 8}}},
                                              {"net/b", {{"z", 10, 100, 32, 64}}}};
    const struct {
        MemoryBudget budget;
        const char *message;
    } rows[] = {
        {{.text = 159}, "--max-text 159: the smallest kernels of all 2 layers have 160 bytes of code together"},
        {{.stack = 31}, "net/b: no kernel fits; --max-stack 31, and the least is 32 bytes of stack"},
        {{.workspace = 63}, "net/b: no kernel fits; --max-workspace 63, and the least is 64 bytes of workspace"},
        {{.text = 199, .stack = 47}, "--max-text 199: the smallest kernels of all 2 layers have 200 bytes"},
        {{.text = 180, .caller_text = 21},
         "--max-text 180: the smallest kernels of all 2 layers have 160 bytes of code together, and what calls them "
         "has 21 bytes: 181 in all"},
        {{.stack = 15, .workspace = 7},
         "net/a: no kernel fits; --max-stack 15, and the least is 16 bytes of stack; --max-workspace 7, and the least "
         "is 0"},
    };
    for (const auto &row : rows) {
        const auto choice = best_choice(layers, row.budget);
        ASSERT_FALSE(choice) << row.message;
        EXPECT_NE(choice.error().message.find(row.message), std::string::npos) << choice.error().message;
    }
    EXPECT_EQ(best_choice({{"net/c", {}}}, {}).error().message, "net/c: there is no kernel at all");
    EXPECT_EQ(best_choice({}, {})->text, 0);
}

TEST(KernelChoice, NamesTheLayersThatNeedMost) {
    std::vector<LayerKernels> layers{{"net/a", {{"x", 10, 400, 16, 0}}},
                                     {"net/b", {{"x", 10, 400, 64, 0}}},
                                     {"net/c", {{"", 10, 90, 80, 0}, {"", 5, 700, 96, 0}}}};
    EXPECT_NE(best_choice(layers, {.text = 480, .caller_text = 20})
                  .error()
                  .message.find("510 in all, 30 too many. Smaller ones may be found by more trials of `kiln tune`. The "
                                "largest are 400 bytes for net/a, net/b; 90 bytes for net/c"),
              std::string::npos);
    EXPECT_EQ(best_choice(layers, {.stack = 32}).error().message,
              "net/b: no kernel fits; --max-stack 32, and the least is 64 bytes of stack. net/c: no kernel fits; "
              "--max-stack 32, and the least is 80 bytes of stack");
    for (int i = 0; i < 10; i++) layers.push_back({"net/" + std::to_string(i), {{"", 1, 1, 99, 0}}});
    const std::string many = best_choice(layers, {.stack = 32}).error().message;
    EXPECT_NE(many.find(". And so for 7 more"), std::string::npos) << many;
}

// Kernels without a name of their code are as many as there are layers, also where they look the same.
TEST(KernelChoice, CodeWithoutANameIsNobodyElses) {
    const std::vector<LayerKernels> layers = {{"net/a", {{"", 10, 100, 0, 0}, {"x", 30, 80, 0, 0}}},
                                              {"net/b", {{"", 10, 100, 0, 0}, {"x", 30, 80, 0, 0}}}};
    EXPECT_EQ(best_choice(layers, {.text = 200})->cycles, 20);
    EXPECT_EQ(best_choice(layers, {.text = 199})->cycles, 40);
    EXPECT_EQ(best_choice(layers, {.text = 179})->cycles, 60);
    EXPECT_EQ(best_choice(layers, {.text = 80})->text, 80);
    EXPECT_FALSE(best_choice(layers, {.text = 79}));
    EXPECT_EQ(best_choice(layers, {.text = 200, .caller_text = 1})->cycles, 40);
}

// As large as networks are: it takes no time.
TEST(KernelChoice, ManyLayersWithManyKernels) {
    std::mt19937_64 random(test_seed() + 2);
    std::vector<LayerKernels> layers(30);
    for (LayerKernels &layer : layers) {
        for (int i = 0; i < 20; i++) {
            const auto text = static_cast<int64_t>(500 + random() % 3000);
            layer.options.push_back({std::to_string(random()),
                                     static_cast<int64_t>(random() % 1'000'000) + 300'000'000 / text, text, 0, 0});
        }
    }
    MemoryBudget budget;
    budget.text = 30'000;
    const auto choice = best_choice(layers, budget);
    ASSERT_TRUE(choice);
    EXPECT_LE(choice->text, budget.text);
}

// Three kinds of layers, each with more shared code than is looked at: what is chosen fits, and sharing pays.
TEST(KernelChoice, ManyLayersThatShareMuch) {
    std::mt19937_64 random(test_seed() + 3);
    std::vector<LayerKernels> layers(14);  // five, five and four of a kind
    int64_t least_alone = 0;
    for (size_t i = 0; i < layers.size(); i++) {
        for (int shared = 0; shared < 14; shared++) {
            const std::string code = std::to_string(i % 3) + " " + std::to_string(shared);
            layers[i].options.push_back({code, static_cast<int64_t>(random() % 1'000'000), 1000 + 10 * shared, 0, 0});
        }
        for (int own = 0; own < 20; own++) {
            const auto text = static_cast<int64_t>(500 + random() % 3000);
            layers[i].options.push_back(
                {std::to_string(random()), static_cast<int64_t>(random() % 500'000), text, 0, 0});
        }
        least_alone += std::ranges::min(layers[i].options, {}, &KernelOption::text).text;
    }
    const auto choices = pareto_choices(layers, {});
    ASSERT_TRUE(choices);
    // A kind has one code at least, and where it is shared that has 1000 bytes; without it are four kernels of 500.
    EXPECT_GE(choices->front().text, 3 * 1000);
    EXPECT_LE(choices->front().text, 3 * 1140);
    EXPECT_LT(choices->front().text, least_alone);
    for (const KernelChoice &choice : *choices) {
        std::set<std::string> code;
        int64_t once = 0, each = 0, cycles = 0;
        for (size_t i = 0; i < layers.size(); i++) {
            const KernelOption &option = layers[i].options[choice.options[i]];
            each += option.text, cycles += option.cycles;
            if (code.insert(option.code).second) once += option.text;
        }
        ASSERT_EQ(cycles, choice.cycles);
        // Code beyond those that most layers have counts for each layer.
        ASSERT_LE(once, choice.text);
        ASSERT_LE(choice.text, each);
    }
}

}  // namespace
}  // namespace kiln
