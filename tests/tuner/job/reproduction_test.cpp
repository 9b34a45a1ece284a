#include "tuner/job/reproduction.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tests/tuner/job/fake_workshop.h"

namespace kiln {
namespace {

const NamedWorkload layer{"net", "a", 1, convolution({1, 56, 56, 64}, {1, 1, 64, 64})};

Trial recorded_trial(FakeWorkshop &shop, double error_budget = 1e-5) {
    TuneOptions options;
    options.trials = 1;
    options.error_budget = error_budget;
    options.cache = CacheMode::cold;
    EXPECT_TRUE(shop.tune({layer}, options).ok());
    return shop.trials().at(0);
}

std::optional<bool> agrees(const std::vector<ReproducedFact> &facts, const std::string &what) {
    for (const ReproducedFact &fact : facts) {
        if (fact.what == what) return fact.agrees;
    }
    ADD_FAILURE() << "no fact " << what;
    return std::nullopt;
}

TEST(Reproduction, OfWhatDoesNotChangeAgrees) {
    FakeWorkshop shop;
    const Trial trial = recorded_trial(shop, 1e-3);
    const auto measurement = *shop.store.measurement_of(trial.id);
    const auto now = reproduce(trial, shop.environment());
    ASSERT_TRUE(now.ok()) << now.error().message;
    EXPECT_EQ(now->trial.id, trial.id) << "the fakes are exact, and so is the timestamp";
    EXPECT_EQ(now->measurement, measurement);
    EXPECT_EQ(now->trial.cache, CacheMode::cold);
    const auto facts = compare(trial, measurement, *now);
    for (const ReproducedFact &fact : facts) EXPECT_TRUE(fact.agrees.value_or(fact.what == "rms_error")) << fact.what;
    EXPECT_TRUE(is_reproduced(facts));
    EXPECT_EQ(shop.trials().size(), 1u) << "nothing is stored";
    EXPECT_EQ(shop.builder.candidates.size(), 2u);
    EXPECT_EQ(shop.runner.runs, 2u) << "measured again, although the object is known";
}

TEST(Reproduction, SaysWhatDiffers) {
    const struct {
        const char *what;
        std::function<void(FakeWorkshop &)> change;
        const char *fact;
        bool reproduced;
    } cases[] = {
        {"a crash", [](auto &shop) { shop.runner.refuses = [](size_t) { return TrialStatus::crash; }; }, "status",
         false},
        {"another object", [](auto &shop) { shop.builder.hash = [](const std::string &) { return "other"; }; },
         "object", false},
        {"times that spread", [](auto &shop) { shop.runner.refuses = [](size_t) { return TrialStatus::unstable; }; },
         "status", true},
        {"another error", [](auto &shop) { shop.runner.max_error *= 1.1; }, "max_error", false},
        {"another toolchain", [](auto &shop) { shop.builder.version = "test 2"; }, "toolchain", true},
        {"another machine", [](auto &shop) { shop.machine.cpu_model = "other"; }, "machine", true},
    };
    for (const auto &c : cases) {
        FakeWorkshop shop;
        const Trial trial = recorded_trial(shop);
        c.change(shop);
        const auto now = reproduce(trial, shop.environment());
        ASSERT_TRUE(now.ok()) << c.what << now.error().message;
        const auto facts = compare(trial, *shop.store.measurement_of(trial.id), *now);
        EXPECT_EQ(agrees(facts, c.fact), false) << c.what;
        EXPECT_EQ(is_reproduced(facts), c.reproduced) << c.what;
        if (c.fact == std::string("machine")) {
            EXPECT_EQ(agrees(facts, "median"), std::nullopt);
        }
    }
}

TEST(Reproduction, ATimeAgreesWithinATenthOrTheSpread) {
    FakeWorkshop shop;
    const Trial trial = recorded_trial(shop);
    const Measurement recorded = **shop.store.measurement_of(trial.id);
    const struct {
        double factor, spread;
        bool agrees;
    } cases[] = {{1, 0, true}, {1.09, 0, true}, {0.91, 0, true}, {1.11, 0, false}, {0.89, 0, false}, {1.2, 0.25, true}};
    for (const auto &c : cases) {
        Measurement now = recorded;
        now.median *= c.factor;
        now.spread = c.spread;
        const auto facts = compare(trial, recorded, {trial, now});
        EXPECT_EQ(agrees(facts, "median"), c.agrees) << c.factor;
        EXPECT_TRUE(is_reproduced(facts)) << "a time does not decide";
    }
}

TEST(Reproduction, ACountIsTheSameOrTheTrialWasNotReproduced) {
    FakeWorkshop shop;
    const Trial trial = recorded_trial(shop);
    Measurement recorded = **shop.store.measurement_of(trial.id);
    recorded.metric = Metric::cycles, recorded.median = 1000;
    for (const double more : {0.0, 1.0}) {
        Measurement now = recorded;
        now.median += more;
        const auto facts = compare(trial, recorded, {trial, now});
        EXPECT_EQ(agrees(facts, "median"), more == 0);
        EXPECT_EQ(is_reproduced(facts), more == 0);
        now.machine = "another core";
        EXPECT_TRUE(is_reproduced(compare(trial, recorded, {trial, now})));
    }
}

// The recorded time is of a quiet minute; what the next processes find of the memory and of the kernel is in `now`.
TEST(Reproduction, ATimeOfAnotherStateOfTheMemoryContradictsNothing) {
    const std::string quiet = R"({"memory_gb_s":{"l3":[70,70],"dram":[35,35]}})";
    const std::string busy = R"({"memory_gb_s":{"l3":[21,21],"dram":[15,15]}})";
    const struct {
        const char *what;
        std::vector<std::pair<std::string, double>> now;  // by run: state, factor of the time
        size_t runs;
        std::optional<bool> median, memory;
    } cases[] = {
        {"as it was", {{quiet, 1}}, 1, true, true},
        {"slower for no reason that is known", {{quiet, 2}}, 1, false, true},
        {"busy for good", {{busy, 3}, {busy, 3}, {busy, 3}}, 3, std::nullopt, false},
        {"busy for a moment", {{busy, 3}, {quiet, 1}}, 2, true, true},
        {"busy, which does not matter to it", {{busy, 1}, {busy, 1}, {busy, 1}}, 3, true, false},
        {"no sentinel any more", {{"{}", 2}}, 1, false, std::nullopt},
    };
    for (const auto &c : cases) {
        FakeWorkshop shop;
        shop.runner.conditions = [&] { return quiet; };
        const Trial trial = recorded_trial(shop);
        const Measurement recorded = **shop.store.measurement_of(trial.id);
        const size_t before = shop.runner.runs;
        const auto at = [&] { return c.now.at(shop.runner.runs - before - 1); };
        shop.runner.conditions = [&] { return at().first; };
        shop.runner.samples = [&](const std::string &, double ns) { return Samples(3, ns * at().second); };
        const auto now = reproduce(trial, shop.environment(), memory_state_of(recorded.conditions));
        ASSERT_TRUE(now.ok()) << c.what;
        const auto facts = compare(trial, recorded, *now);
        EXPECT_EQ(shop.runner.runs - before, c.runs) << c.what;
        EXPECT_EQ(agrees(facts, "median"), c.median) << c.what;
        EXPECT_EQ(agrees(facts, "memory"), c.memory) << c.what;
        EXPECT_TRUE(is_reproduced(facts)) << c.what;
    }
}

TEST(Reproduction, OfAFailureAgreesWhereItFailsTheSameWay) {
    FakeWorkshop shop;
    shop.builder.refuses = [](size_t) { return TrialStatus::compile_timeout; };
    const Trial trial = recorded_trial(shop);
    const auto now = reproduce(trial, shop.environment());
    ASSERT_TRUE(now.ok());
    EXPECT_EQ(now->trial.stderr_text, "what it printed");
    const auto facts = compare(trial, std::nullopt, *now);
    EXPECT_TRUE(is_reproduced(facts));
    EXPECT_EQ(agrees(facts, "object"), std::nullopt) << "there is none";
    EXPECT_EQ(agrees(facts, "message"), true);

    shop.builder.refuses = [](size_t) { return TrialStatus::compile_error; };
    EXPECT_FALSE(is_reproduced(compare(trial, std::nullopt, *reproduce(trial, shop.environment()))));
}

TEST(Reproduction, OfAWrongResultComparesInfiniteErrors) {
    FakeWorkshop shop;
    shop.runner.refuses = [](size_t) { return TrialStatus::wrong_result; };
    shop.runner.max_error = std::numeric_limits<double>::infinity();
    const Trial trial = recorded_trial(shop);
    EXPECT_EQ(agrees(compare(trial, std::nullopt, *reproduce(trial, shop.environment())), "max_error"), true);
}

TEST(Reproduction, OfWhatThisKilnDoesNotKnow) {
    FakeWorkshop shop;
    const Trial good = recorded_trial(shop);
    Trial trial = good;
    trial.workload = "conv9d/input:1";
    EXPECT_EQ(reproduce(trial, shop.environment()).error().code, ErrorCode::bad_input);
    trial = good;
    trial.candidate = "no candidate at all";
    EXPECT_EQ(reproduce(trial, shop.environment()).error().code, ErrorCode::bad_input);
    trial = good;
    trial.candidate = "gone@7/cpu_tile@1/pixels:1";  // an algorithm that there is no more
    const auto refused = reproduce(trial, shop.environment());
    ASSERT_TRUE(refused.ok()) << refused.error().message;
    EXPECT_EQ(refused->trial.status, TrialStatus::refused);
}

}  // namespace
}  // namespace kiln
