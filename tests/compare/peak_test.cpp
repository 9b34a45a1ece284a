#include "compare/peak.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "compare/peak_memory.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

FmaPeak peak(double gflops, double ghz = 3.7) { return {"AVX-512 FMA", gflops, ghz, gflops / ghz}; }

// Answers these, then the last one again and again.
struct Meter {
    std::vector<double> answers;
    size_t asked = 0;
    std::function<FmaPeak()> function() {
        return [this] { return peak(answers[std::min(asked++, answers.size() - 1)]); };
    }
};

TEST(Peak, IsMeasuredAgainWhileItIsTooLow) {
    const struct {
        std::vector<double> answers;
        double expected_gflops, gflops, lowest;
        int measured;
    } cases[] = {
        {{118}, 0, 118, 118, 1},          {{118}, 118.2, 118, 118, 1}, {{69.9, 118}, 118, 118, 69.9, 2},
        {{69.9, 60, 80}, 118, 80, 60, 4}, {{113}, 118, 113, 113, 1},   {{100, 120, 69}, 118, 120, 100, 2},
    };
    for (const auto &c : cases) {
        Meter meter{c.answers};
        const PeakReading reading = read_peak(meter.function(), c.expected_gflops);
        EXPECT_EQ(reading.peak.gflops, c.gflops);
        EXPECT_EQ(reading.lowest_gflops, c.lowest);
        EXPECT_EQ(reading.measured, c.measured);
        EXPECT_EQ(meter.asked, static_cast<size_t>(c.measured));
    }
}

TEST(Peak, TargetsOfOneCpuDisagree) {
    const auto found = [](std::vector<FmaPeak> measured) {
        TargetPeaks peaks;
        for (const FmaPeak &p : measured) peaks.readings.push_back({p, p.gflops, 1});
        // Each runs what comes after it.
        for (size_t i = 0; i < measured.size(); i++) {
            peaks.runs.emplace_back();
            for (size_t j = 0; j < measured.size(); j++) peaks.runs.back().push_back(j >= i);
        }
        std::string text;
        for (const Disagreement &d : disagreements(peaks)) {
            text += std::to_string(d.target) + ":" + std::to_string(int(d.expected_gflops)) + " ";
        }
        return text;
    };
    EXPECT_EQ(found({peak(118), peak(118), peak(59)}), "");
    EXPECT_EQ(found({peak(113), peak(118), peak(59)}), "");            // within a twentieth
    EXPECT_EQ(found({peak(69.9), peak(118), peak(59)}), "0:118 ");     // wider ones have at least as much
    EXPECT_EQ(found({peak(118), peak(60, 2.0), peak(59)}), "1:111 ");  // the core was slower meanwhile
    EXPECT_EQ(found({peak(118), peak(118), peak(30, 3.5)}), "");       // a lower peak alone says nothing
    EXPECT_EQ(found({peak(0, 0), peak(0, 0)}), "");
    EXPECT_EQ(found({}), "");
}

TEST(Peak, NotesSayWhatWasOdd) {
    const Load load{.runnable = 5.24, .cores = 2};
    EXPECT_EQ(note({peak(118), 117, 2}, peak(118), load), "");
    EXPECT_EQ(note({peak(118), 118, 1}, std::nullopt, load), "");
    EXPECT_EQ(note({peak(118), 69.9, 3}, std::nullopt, load),
              "peak measured 3 times, 69.9 to 118.0 GFLOP/s: the machine was busy (load 5.2 on 2 cores)");
    EXPECT_EQ(note({peak(69.9), 60, 4}, peak(118), load),
              "peak 69.9 GFLOP/s, but 118.0 were measured here before: the machine is busy (load 5.2 on 2 cores) or "
              "slower now");
}

TEST(PeakGaugeTest, AKernelThatExceedsItHasItMeasuredAgain) {
    Meter meter{{69.9, 118, 118}};
    PeakGauge gauge(meter.function(), std::nullopt);
    EXPECT_EQ(gauge.see(60), std::nullopt);
    EXPECT_EQ(meter.asked, 1u);
    EXPECT_EQ(gauge.see(74),
              "peak measured again, as a kernel exceeded it: 118.0 GFLOP/s, not 69.9; the machine was busy");
    EXPECT_EQ(gauge.peak().gflops, 118);
    EXPECT_EQ(gauge.see(117), std::nullopt);
    EXPECT_EQ(meter.asked, 2u);
    for (int i = 0; i < 5; i++) EXPECT_EQ(gauge.see(300), std::nullopt);  // Winograd: two that agree are the last
    EXPECT_EQ(meter.asked, 3u);
}

TEST(PeakGaugeTest, BeginsWithTheHighestThatWasSeenHere) {
    Meter busy{{70}};
    PeakGauge gauge(busy.function(), peak(118));
    EXPECT_EQ(gauge.peak().gflops, 118);
    EXPECT_EQ(gauge.reading().peak.gflops, 70);
    Meter better{{119}};
    EXPECT_EQ(PeakGauge(better.function(), peak(118)).peak().gflops, 119);
    EXPECT_EQ(better.asked, 1u);
}

TEST(PeakGaugeTest, AMachineThatStaysBusyIsNotAskedForEver) {
    Meter meter{{50, 10}};
    PeakGauge gauge(meter.function(), std::nullopt);
    for (int i = 0; i < 100; i++) EXPECT_EQ(gauge.see(60), std::nullopt);
    EXPECT_LE(meter.asked, 6u);
}

TEST(PeakMemoryTest, KeepsTheHighestForEachMachineInstructionsAndThreads) {
    const ScratchFolder folder;
    const std::string path = (folder / "cache/kiln/peaks.json");
    const PeakMemory here(path, "machine 1"), there(path, "machine 2");
    EXPECT_FALSE(here.earlier("AVX-512 FMA", 1));
    here.remember(peak(100), 1);
    here.remember(peak(118), 1);
    here.remember(peak(69.9), 1);
    here.remember(peak(200), 2);
    there.remember(peak(50), 1);
    EXPECT_EQ(here.earlier("AVX-512 FMA", 1)->gflops, 118);
    EXPECT_EQ(here.earlier("AVX-512 FMA", 1)->frequency_ghz, 3.7);
    EXPECT_EQ(here.earlier("AVX-512 FMA", 2)->gflops, 200);
    EXPECT_EQ(there.earlier("AVX-512 FMA", 1)->gflops, 50);
    EXPECT_FALSE(here.earlier("SSE multiply + add", 1));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator((folder / "cache/kiln")), {}), 1);
}

TEST(PeakMemoryTest, AFileThatIsNotOursIsNoError) {
    const ScratchFolder folder;
    const std::string path = (folder / "peaks.json");
    for (const char *text :
         {"", "nonsense", "[]", "{}", R"({"format":"peaks/9","peaks":[]})", R"({"format":"peaks/1","peaks":{}})",
          R"({"format":"peaks/1","peaks":[1,null,{"machine":"m","instructions":"AVX-512 FMA","threads":1}]})",
          R"({"format":"peaks/1","peaks":[{"machine":"m","instructions":"AVX-512 FMA","threads":1,"gflops":"x"}]})"}) {
        std::ofstream(path, std::ios::trunc) << text;
        const PeakMemory memory(path, "m");
        EXPECT_FALSE(memory.earlier("AVX-512 FMA", 1)) << text;
        memory.remember(peak(118), 1);
        EXPECT_EQ(memory.earlier("AVX-512 FMA", 1)->gflops, 118) << text;
    }
    PeakMemory("/proc/no/such/folder/peaks.json", "m").remember(peak(1), 1);
    PeakMemory("", "m").remember(peak(1), 1);
    EXPECT_FALSE(PeakMemory("", "m").earlier("AVX-512 FMA", 1));
}

TEST(PeakMemoryTest, LiesInTheUsersCacheFolder) {
    const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
    const std::optional<std::string> before_cache = cache ? std::optional(cache) : std::nullopt;
    const std::optional<std::string> before_home = home ? std::optional(home) : std::nullopt;
    const struct {
        const char *cache, *home, *expected;
    } cases[] = {{"/c", "/h", "/c/kiln/peaks.json"},
                 {"", "/h", "/h/.cache/kiln/peaks.json"},
                 {"relative", "/h", "/h/.cache/kiln/peaks.json"},
                 {"", "", ""}};
    for (const auto &c : cases) {
        setenv("XDG_CACHE_HOME", c.cache, 1);
        setenv("HOME", c.home, 1);
        EXPECT_EQ(peak_memory_path(), c.expected);
    }
    before_cache ? setenv("XDG_CACHE_HOME", before_cache->c_str(), 1) : unsetenv("XDG_CACHE_HOME");
    before_home ? setenv("HOME", before_home->c_str(), 1) : unsetenv("HOME");
}

}  // namespace
}  // namespace kiln
