#include "cli/measuring/peak_keeper.h"

#include <fmt/format.h>

#include "cli/answers/output.h"
#include "cli/measuring/measuring_turn.h"

namespace kiln {

PeakKeeper::PeakKeeper(const Machine &machine, const Target &target, PeakOf what)
    : memory_(peak_memory_path(), key(machine)),
      target_(target),
      earlier_(
          memory_.earlier(what == PeakOf::int8 ? int8_instructions(target) : fma_instructions(target), target.threads)),
      gauge_(
          [this, what] {
              const auto alone = take_machine(patience_of_peaks_ns);
              return what == PeakOf::int8 ? measure_int8_peak(target_) : measure_fma_peak(target_);
          },
          earlier_) {
    const std::string odd = note(gauge_.reading(), earlier_, read_load());
    if (!odd.empty()) tell(odd);
    if (!odd.empty() && gauge_.reading().peak.gflops < gauge_.peak().gflops) {
        tell(fmt::format("shares are of {:.1f} GFLOP/s, the highest that was measured here", gauge_.peak().gflops));
    }
}

PeakKeeper::~PeakKeeper() { memory_.remember(gauge_.peak(), target_.threads); }

}  // namespace kiln
