// A bar chart of what `kiln bench` measured: GFLOP/s of each layer, ours and the peers', with the FMA peak as a line and
// each layer's roofline as a tick. One SVG file that needs nothing else. All words stand beside the plot, never in it, so
// that nothing lies under a line or beyond an edge, however far bars pass the peak.
#pragma once

#include <string>

#include "cli/bench/bench_report.h"

namespace kiln {

std::string bench_chart(const BenchReport &report);

}  // namespace kiln
