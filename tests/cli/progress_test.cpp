#include "cli/progress.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/answers/terminal_text.h"

namespace kiln {
namespace {

// 2 * 56 * 56 * 64 * 64 = 25.7 MFLOP
const NamedWorkload layer{"resnet50", "res2a", 1, convolution({1, 56, 56, 64}, {1, 1, 64, 64})};

TuneProgress progress(int64_t done, double best_ns) {
    TuneProgress p;
    p.workload = &layer;
    p.workload_index = 1;
    p.workload_count = 20;
    p.trials_done = done;
    p.trials_wanted = 64;
    p.fraction = static_cast<double>(done) / 64;
    p.failures = 2;
    p.best_ns = best_ns;
    p.default_ns = 2 * best_ns;
    p.seconds_left = 250;
    return p;
}

struct Stream {
    char *data = nullptr;
    size_t size = 0;
    std::FILE *file = open_memstream(&data, &size);
    ~Stream() {
        std::fclose(file);
        std::free(data);
    }
    std::string text() const {
        std::fflush(file);
        return std::string(data, size);
    }
};

TEST(Progress, LineHasEverythingWhereThereIsRoom) {
    EXPECT_EQ(progress_line(progress(16, 400'000), 128, 200, true),
              "2/20  resnet50/res2a  [#####...............]  16/64 trials  best 400.0 us  64.2 GFLOP/s  50 % of peak  "
              "2 failed  4m10s left");
    EXPECT_EQ(progress_line(progress(16, 400'000), 0, 200, false),
              "2/20  resnet50/res2a  16/64 trials  best 400.0 us  64.2 GFLOP/s  2 failed  4m10s left");
    TuneProgress start = progress(0, 1);
    start.best_ns = start.default_ns = start.seconds_left = std::nullopt;
    start.failures = 0;
    start.trials_wanted = unlimited_trials;
    EXPECT_EQ(progress_line(start, 128, 200, false), "2/20  resnet50/res2a  0 trials");
    TuneProgress counted = progress(16, 400'000);
    counted.metric = Metric::cycles;
    EXPECT_EQ(progress_line(counted, 0, 200, false),
              "2/20  resnet50/res2a  16/64 trials  best 400000 cycles  2 failed  4m10s left");
}

TEST(Progress, LineFitsEveryWidth) {
    for (int width = 10; width < 160; width++) {
        const std::string line = progress_line(progress(16, 400'000), 128, width, true);
        EXPECT_LE(display_width(line), width) << line;
        EXPECT_TRUE(line.starts_with("2/20")) << line;
    }
    EXPECT_EQ(progress_line(progress(16, 400'000), 128, 40, true), "2/20  res2a  16/64  best 400.0 us");
    EXPECT_EQ(progress_line(progress(16, 400'000), 128, 79, true),
              "2/20  res2a  [##....]  16/64  best 400.0 us  50 % of peak  2 failed  4m10s left");
}

TEST(Progress, FinishedLine) {
    EXPECT_EQ(finished_line(progress(64, 400'000), 128),
              "resnet50/res2a: 400.0 us, 64.2 GFLOP/s, 50 % of peak, 2.00x default, 64 trials, 2 failed");
    TuneProgress raced = progress(64, 400'000);
    raced.race.emplace(RaceSummary{4, 0, {"a loser's time of 250.0 us did not hold, a fresh process takes 600.0 us"}});
    EXPECT_EQ(
        finished_line(raced, 128),
        "resnet50/res2a: 400.0 us, 64.2 GFLOP/s, 50 % of peak, 2.00x default, 64 trials, 2 failed, 4 raced; a loser's "
        "time of 250.0 us did not hold, a fresh process takes 600.0 us");
    TuneProgress none = progress(0, 1);
    none.best_ns = std::nullopt;
    none.problem = "no algorithm applies (direct: ...)";
    EXPECT_EQ(finished_line(none, 128), "resnet50/res2a: no algorithm applies (direct: ...)");
}

TEST(Progress, PlainLinesAtStartAndEndAndEveryTenSeconds) {
    Stream stream;
    int64_t now = 1'000'000'000'000;
    ProgressPrinter printer(
        stream.file, [] { return ProgressStyle{}; }, [&] { return now; }, [] { return 128.0; });
    TuneProgress p = progress(0, 400'000);
    p.event = TuneProgress::Event::workload_started;
    printer.show(p);
    for (int i = 1; i <= 24; i++) {
        now += 1'000'000'000;
        p = progress(i, 400'000);
        printer.show(p);
    }
    p.event = TuneProgress::Event::workload_finished;
    printer.show(p);
    const std::string text = stream.text();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << text;  // start, 10 s, 20 s, end
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\r'), std::string::npos);
    EXPECT_NE(text.find("10/64"), std::string::npos);
    EXPECT_NE(text.find("2/20  resnet50/res2a: 400.0 us"), std::string::npos);
}

TEST(Progress, SaysThatItWaitsForOthers) {
    Stream stream;
    {
        ProgressPrinter printer(
            stream.file,
            [] {
                return ProgressStyle{true, false, 60};
            },
            [] { return int64_t(0); }, [] { return 128.0; });
        printer.show(progress(1, 400'000));
        TuneProgress p = progress(1, 400'000);
        p.event = TuneProgress::Event::waiting_for_others;
        printer.show(p);
    }
    EXPECT_TRUE(stream.text().ends_with(
        "\r\x1b[Kkiln: resnet50/res2a: waits for the trials that other processes on this database are at\n"))
        << stream.text();
}

TEST(Progress, OneLiveLineAndFinishedLayersStay) {
    for (const bool color : {false, true}) {
        Stream stream;
        {
            const ProgressStyle style{true, color, 60};
            ProgressPrinter printer(
                stream.file, [&] { return style; }, [] { return int64_t(0); }, [] { return 128.0; });
            TuneProgress p = progress(1, 400'000);
            printer.show(p);
            printer.show(p);
            p.event = TuneProgress::Event::workload_finished;
            printer.show(p);
            p.event = TuneProgress::Event::workload_started;
            printer.show(p);
        }
        const std::string text = stream.text();
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
        EXPECT_EQ(text.find("\x1b[32m") != std::string::npos, color);
        EXPECT_TRUE(text.ends_with("\r\x1b[K")) << "the live line goes at the end";
    }
}

TEST(Progress, AFileIsNoTerminal) {
    Stream stream;
    std::FILE *file = std::tmpfile();
    const ProgressStyle style = progress_style(fileno(file));
    std::fclose(file);
    EXPECT_FALSE(style.live);
    EXPECT_FALSE(style.color);
}

}  // namespace
}  // namespace kiln
