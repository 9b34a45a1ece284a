// Tells how tuning goes, on stderr. On a terminal: one live line for the layer in work, and a line that stays for each
// layer that is done. Elsewhere: plain lines at the start and end of a layer and every ten seconds between.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include "tuner/job/tune.h"

namespace kiln {

struct ProgressStyle {
    bool live = false;   // it goes to a terminal that can rewrite a line
    bool color = false;  // and the user did not set NO_COLOR
    int width = 100;     // columns
};
ProgressStyle progress_style(int descriptor);

// The line of the layer in work, at most `width` columns: what matters least is left out first. Without a bar for plain
// lines. `peak_gflops` is the measured FMA peak.
std::string progress_line(const TuneProgress &progress, double peak_gflops, int width, bool with_bar);

// "resnet50/conv1: 410.3 us, 560.1 GFLOP/s, 78 % of peak, 1.23x default, 64 trials, 2 failed"
std::string finished_line(const TuneProgress &progress, double peak_gflops);

class ProgressPrinter {
public:
    // `refresh` is asked for the width before each live line, since windows change.
    ProgressPrinter(std::FILE *stream, std::function<ProgressStyle()> refresh, std::function<int64_t()> now_ns,
                    std::function<double()> peak_gflops);
    ~ProgressPrinter();
    ProgressPrinter(const ProgressPrinter &) = delete;
    ProgressPrinter &operator=(const ProgressPrinter &) = delete;

    void show(const TuneProgress &progress);
    void say(const std::string &message);  // a line that stays

private:
    void clear_live_line();
    void show_live(const TuneProgress &progress, const ProgressStyle &style);
    void show_plain(const TuneProgress &progress);
    void print_finished(const TuneProgress &progress, bool color);

    std::FILE *stream_;
    std::function<ProgressStyle()> refresh_;
    std::function<int64_t()> now_ns_;
    std::function<double()> peak_gflops_;  // asked for each line, since it may be measured again
    bool live_line_shown_ = false;
    int64_t last_line_ns_ = 0;
};

}  // namespace kiln
