#include "schedules/compiler_flags.h"

namespace kiln {
namespace {

const std::vector<std::string> rows[compiler_flag_rows] = {
    {"-O2"},
    {"-O2", "-mtune=sifive-7-series"},  // puts more between a load or a product and its use
    {"-O2", "-fno-schedule-insns"},     // keeps fewer values alive
    {"-Os"},
    // The order of a core with two pipelines, but not at the price of spilled registers.
    {"-O2", "-mtune=sifive-7-series", "-fsched-pressure", "--param=sched-pressure-algorithm=2", "-frename-registers"},
    {"-O2", "-mtune=sifive-7-series", "-frename-registers"},
};

}  // namespace

std::vector<std::vector<std::string>> compiler_flags(const Candidate &candidate) {
    const auto knob = candidate.knobs.find("flags");
    const int64_t row = knob == candidate.knobs.end() ? 0 : knob->second;
    const std::vector<std::string> own = rows[row >= 0 && row < compiler_flag_rows ? row : 0];
    return {own, rows[2], rows[3], {"-Os", "-fno-schedule-insns", "-fno-ivopts"}};
}

}  // namespace kiln
