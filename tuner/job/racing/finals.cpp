#include "tuner/job/racing/finals.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace kiln {
namespace {

constexpr size_t most_finalists = 3;

}  // namespace

std::vector<size_t> finalists(const std::vector<Contestant> &contestants, const std::string &incumbent) {
    std::vector<size_t> order(contestants.size()), field;
    std::iota(order.begin(), order.end(), size_t{0});
    const auto rank = [&](size_t i) {
        const Contestant &c = contestants[i];
        return std::tuple(c.time.median, c.trial.object_bytes.value_or(0), std::string_view(c.trial.candidate));
    };
    std::ranges::sort(order, {}, rank);
    std::set<std::string_view> kernels;
    for (const size_t i : order) {
        if (field.size() < most_finalists && kernels.insert(contestants[i].trial.object_hash).second)
            field.push_back(i);
    }
    for (const size_t i : order) {
        const Contestant &c = contestants[i];
        if (!incumbent.empty() && c.is(incumbent) && kernels.insert(c.trial.object_hash).second) field.push_back(i);
    }
    return field;
}

std::vector<RaceEntry> final_entries(const std::vector<Contestant> &contestants, const std::vector<size_t> &field,
                                     const std::vector<Samples> &times) {
    std::vector<size_t> order(field.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t k) { return times[k].front(); });
    std::vector<RaceEntry> entries;
    for (const size_t k : order) {
        const double ratio = times[k].front() / times[order.front()].front();
        entries.push_back({contestants[field[k]].trial.id, ratio, ratio, ratio, times[k]});
    }
    return entries;
}

}  // namespace kiln
