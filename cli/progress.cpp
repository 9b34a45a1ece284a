#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "cli/answers/output.h"
#include "cli/answers/terminal_text.h"
#include "cli/clock.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

constexpr int64_t plain_interval_ns = 10'000'000'000;
constexpr int shortest_bar = 5, longest_bar = 20, bar_rank = 6;

std::string layer_name(const TuneProgress &p) { return p.workload->list + "/" + p.workload->name; }

// 0 where what is counted is no time.
double best_gflops(const TuneProgress &p) {
    return p.metric == Metric::ns ? static_cast<double>(flop_count(p.workload->workload)) / *p.best_ns : 0;
}

std::string amount(const TuneProgress &p) {
    return p.metric == Metric::ns ? fmt::format("{:.1f} us", *p.best_ns * 1e-3)
                                  : fmt::format("{:.0f} {}", *p.best_ns, name(p.metric));
}

std::string peak_share(double gflops, double peak_gflops) {
    return fmt::format("{:.0f} % of peak", 100 * gflops / peak_gflops);
}

std::string bar(double fraction, int width) {
    const int filled = static_cast<int>(std::lround(std::clamp(fraction, 0.0, 1.0) * width));
    return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
}

// A part of the line. Rank 0 always stays, the highest rank goes first.
struct Part {
    std::string text;
    int rank;
};

std::string join(const std::vector<Part> &parts) {
    std::string line;
    for (const Part &part : parts) {
        if (!part.text.empty()) line += (line.empty() ? "" : "  ") + part.text;
    }
    return line;
}

}  // namespace

ProgressStyle progress_style(int descriptor) {
    ProgressStyle style;
    const char *terminal = std::getenv("TERM");
    style.live = isatty(descriptor) == 1 && terminal && std::string_view(terminal) != "dumb";
    const char *no_color = std::getenv("NO_COLOR");
    style.color = style.live && !(no_color && *no_color);
    winsize size{};
    if (style.live && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
    return style;
}

std::string progress_line(const TuneProgress &p, double peak_gflops, int width, bool with_bar) {
    constexpr int roomy = 120;
    const std::string name = width < roomy ? p.workload->name : layer_name(p);
    std::vector<Part> parts;
    parts.push_back({fmt::format("{}/{}", p.workload_index + 1, p.workload_count), 0});
    parts.push_back({shortened(quoted_line(name), std::max(8, width / 3)), 0});
    const size_t bar_at = parts.size();
    if (with_bar) parts.push_back({bar(p.fraction, shortest_bar), bar_rank});
    parts.push_back({p.trials_wanted == unlimited_trials
                         ? fmt::format("{} trials", p.trials_done)
                         : fmt::format("{}/{}{}", p.trials_done, p.trials_wanted, width < roomy ? "" : " trials"),
                     2});
    if (p.best_ns) {
        parts.push_back({"best " + amount(p), 1});
        if (const double speed = best_gflops(p); speed > 0) {
            parts.push_back({fmt::format("{:.1f} GFLOP/s", speed), 8});
            if (peak_gflops > 0) parts.push_back({peak_share(speed, peak_gflops), 3});
        }
    }
    if (p.failures > 0) parts.push_back({fmt::format("{} failed", p.failures), 7});
    if (p.seconds_left) parts.push_back({duration_text(*p.seconds_left) + " left", 4});
    for (int rank = 8; rank > 0 && display_width(join(parts)) > width; rank--) {
        std::erase_if(parts, [&](const Part &part) { return part.rank == rank; });
    }
    if (with_bar && parts.size() > bar_at && parts[bar_at].rank == bar_rank) {  // the bar takes what is left
        const int room = width - display_width(join(parts));
        parts[bar_at].text = bar(p.fraction, std::min(longest_bar, shortest_bar + std::max(0, room)));
    }
    return shortened(join(parts), width);
}

std::string finished_line(const TuneProgress &p, double peak_gflops) {
    std::string line = quoted_line(layer_name(p)) + ": ";
    if (!p.best_ns) return line + (p.problem.empty() ? "no valid trial" : quoted_line(p.problem));
    line += amount(p);
    if (const double speed = best_gflops(p); speed > 0) {
        line += fmt::format(", {:.1f} GFLOP/s", speed);
        if (peak_gflops > 0) line += ", " + peak_share(speed, peak_gflops);
    }
    if (p.default_ns) line += fmt::format(", {:.2f}x default", *p.default_ns / *p.best_ns);
    line += fmt::format(", {} trial{}", p.trials_done, p.trials_done == 1 ? "" : "s");
    if (p.failures > 0) line += fmt::format(", {} failed", p.failures);
    if (p.race) {
        if (p.race->entries > 0) line += fmt::format(", {} raced", p.race->entries);
        if (p.race->judged) line += fmt::format(", {:.0f} cycles on the Verilog", *p.race->judged);
        if (p.race->ties > 0) line += fmt::format(", {} tied with the winner", p.race->ties);
        for (const std::string &note : p.race->notes) line += "; " + note;
    }
    return line;
}

ProgressPrinter::ProgressPrinter(std::FILE *stream, std::function<ProgressStyle()> refresh,
                                 std::function<int64_t()> now_ns, std::function<double()> peak_gflops)
    : stream_(stream), refresh_(std::move(refresh)), now_ns_(std::move(now_ns)), peak_gflops_(std::move(peak_gflops)) {}

ProgressPrinter::~ProgressPrinter() { clear_live_line(); }

void ProgressPrinter::show(const TuneProgress &progress) {
    const ProgressStyle style = refresh_();
    clear_live_line();
    if (progress.event == TuneProgress::Event::workload_finished) {
        print_finished(progress, style.color);
    } else if (progress.event == TuneProgress::Event::waiting_for_others) {
        say(fmt::format("kiln: {}: waits for the trials that other processes on this database are at",
                        layer_name(progress)));
    } else if (style.live) {
        show_live(progress, style);
    } else {
        show_plain(progress);
    }
}

void ProgressPrinter::say(const std::string &message) {
    clear_live_line();
    write_text(stream_, quoted_line(message) + "\n");
}

void ProgressPrinter::clear_live_line() {
    if (!live_line_shown_) return;
    write_text(stream_, "\r\x1b[K");
    live_line_shown_ = false;
}

void ProgressPrinter::show_live(const TuneProgress &progress, const ProgressStyle &style) {
    // A character in the last column makes some terminals start a new line.
    write_text(stream_, progress_line(progress, peak_gflops_(), std::max(10, style.width - 1), true));
    live_line_shown_ = true;
}

void ProgressPrinter::show_plain(const TuneProgress &progress) {
    const int64_t now = now_ns_();
    const bool started = progress.event == TuneProgress::Event::workload_started;
    if (!started && now - last_line_ns_ < plain_interval_ns) return;
    last_line_ns_ = now;
    write_text(stream_, progress_line(progress, peak_gflops_(), 160, false) + "\n");
}

void ProgressPrinter::print_finished(const TuneProgress &progress, bool color) {
    const std::string line = fmt::format("{}/{}  {}", progress.workload_index + 1, progress.workload_count,
                                         finished_line(progress, peak_gflops_()));
    if (color) {
        const int green = 32, red = 31;
        const bool is_well = progress.best_ns || progress.is_empty;
        write_text(stream_, fmt::format("\x1b[{}m{}\x1b[0m\n", is_well ? green : red, line));
    } else {
        write_text(stream_, line + "\n");
    }
}

}  // namespace kiln
