#include "tuner/job/racing/network_race.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "records/race_conditions.h"

namespace kiln {
namespace {

constexpr size_t most_heats = 8;
constexpr RaceRules rules;

// What the versions of a network took in a heat: the report of each, or why it failed.
struct VersionsHeat {
    std::map<size_t, NetworkRunReport> reports;
    std::map<size_t, Failure> failures;
};

// Each heat begins with another version, so that none always follows the same one.
Result<VersionsHeat> run_heat(const std::vector<size_t> &versions, size_t heat, const RunVersion &run,
                              const NetworkRaceTime &time) {
    VersionsHeat ran;
    for (size_t i = 0; i < versions.size(); i++) {
        if (time.interrupted()) return Error{ErrorCode::interrupted, "interrupted"};
        const size_t version = versions[(i + heat) % versions.size()];
        Result<Attempt<NetworkRunReport>> report = run(version);
        if (!report) return report.error();
        if (report->ok()) {
            ran.reports[version] = std::move(report->value());
        } else {
            ran.failures[version] = report->failure();
        }
    }
    return ran;
}

// The mean of a layer's steps, call by call.
Samples step_samples(const NetworkLayer &layer, const NetworkRunReport &report) {
    Samples samples(report.steps[layer.steps.front()].size(), 0.0);
    for (const size_t step : layer.steps) {
        for (size_t call = 0; call < samples.size(); call++)
            samples[call] += report.steps[step][call] / static_cast<double>(layer.steps.size());
    }
    return samples;
}

Samples call_samples(const NetworkRunReport &report) {
    Samples samples(report.steps.front().size(), 0.0);
    for (const Samples &step : report.steps) {
        for (size_t call = 0; call < samples.size(); call++) samples[call] += step[call];
    }
    return samples;
}

class HeatTimes {
public:
    explicit HeatTimes(const NetworkRaceTime &time) : time_(time), latest_ns_(time.now_ns()) {}

    // Whether a heat as long as the last one would end in time.
    bool has_time() {
        const int64_t now_ns = time_.now_ns(), heat_ns = now_ns - latest_ns_;
        latest_ns_ = now_ns;
        return !time_.end_ns || now_ns + heat_ns < *time_.end_ns;
    }

private:
    const NetworkRaceTime &time_;
    int64_t latest_ns_;
};

class NetworkRace {
public:
    NetworkRace(std::vector<NetworkLayer> layers, const RunVersion &run, const NetworkRaceTime &time)
        : run_(run), time_(time) {
        result_.layers = std::move(layers);
        for (const NetworkLayer &layer : result_.layers) {
            std::vector<Entrant> &entrants = result_.entrants.emplace_back();
            for (const NetworkKernel &kernel : layer.kernels)
                entrants.push_back({kernel.trial.object_bytes.value_or(0), {}, kernel.is_default});
            still_in_.emplace_back();
            for (const NetworkKernel &kernel : layer.kernels) still_in_.back().insert(kernel.version);
        }
        for (size_t version = 0; version < version_count(result_.layers); version++) {
            result_.versions.push_back({version, {}});
            racing_.push_back(version);
        }
    }

    Result<NetworkRaceResult> run() {
        HeatTimes times(time_);
        size_t heats = 0;
        while (heats < most_heats && !racing_.empty()) {
            if (time_.tell) time_.tell(heats);
            const Result<VersionsHeat> heat = run_heat(racing_, heats, run_, time_);
            if (!heat) return heat.error();
            if (Status s = leave_out_failed(*heat); !s) {
                result_.problem = s.error().message;
                return std::move(result_);
            }
            take(*heat);
            heats++;
            decide();
            if (!times.has_time()) break;
        }
        if (heats < rules.fewest_heats && !racing_.empty()) {
            result_.problem = "there was no time for it";
            return std::move(result_);
        }
        for (const std::vector<Entrant> &entrants : result_.entrants)
            result_.places.push_back(final_places(entrants, rules));
        return std::move(result_);
    }

private:
    Status leave_out_failed(const VersionsHeat &heat) {
        for (const auto &[version, failure] : heat.failures) {
            if (version == 0)
                return Error{ErrorCode::environment, fmt::format("{}: {}", name(failure.status), failure.message)};
            for (size_t l = 0; l < result_.layers.size(); l++) {
                std::vector<NetworkKernel> &kernels = result_.layers[l].kernels;
                std::vector<Entrant> &entrants = result_.entrants[l];
                for (size_t k = kernels.size(); k-- > 0;) {
                    if (kernels[k].version != version) continue;
                    kernels.erase(kernels.begin() + std::ptrdiff_t(k));
                    entrants.erase(entrants.begin() + std::ptrdiff_t(k));
                }
            }
        }
        return {};
    }

    void take(const VersionsHeat &heat) {
        for (const auto &[version, report] : heat.reports) {
            result_.versions[version].heats.push_back(call_samples(report));
            result_.conditions.push_back(report.conditions.empty() ? "{}" : report.conditions);
        }
        for (size_t l = 0; l < result_.layers.size(); l++) {
            const NetworkLayer &layer = result_.layers[l];
            for (size_t k = 0; k < layer.kernels.size(); k++) {
                const size_t version = layer.kernels[k].version;
                const auto report = heat.reports.find(version);
                if (report == heat.reports.end() || !still_in_[l].contains(version)) continue;
                result_.entrants[l][k].heats.push_back(step_samples(layer, report->second));
            }
        }
    }

    // A version runs as long as it has a kernel that is not out, of a layer that is not decided.
    void decide() {
        std::set<size_t> wanted;
        for (size_t l = 0; l < result_.layers.size(); l++) {
            if (still_in_[l].empty()) continue;
            still_in_[l].clear();
            for (const size_t k : still_racing(result_.entrants[l], rules))
                still_in_[l].insert(result_.layers[l].kernels[k].version);
            wanted.insert(still_in_[l].begin(), still_in_[l].end());
        }
        racing_.assign(wanted.begin(), wanted.end());
    }

    const RunVersion &run_;
    const NetworkRaceTime &time_;
    NetworkRaceResult result_;
    std::vector<size_t> racing_;              // versions
    std::vector<std::set<size_t>> still_in_;  // versions of each layer's kernels that are not out; none: it is decided
};

}  // namespace

const NetworkKernel &kernel_of(const NetworkLayer &layer, size_t version) {
    for (const NetworkKernel &kernel : layer.kernels) {
        if (kernel.version == version) return kernel;
    }
    return layer.kernels.front();
}

size_t version_count(const std::vector<NetworkLayer> &layers) {
    size_t count = 0;
    for (const NetworkLayer &layer : layers) {
        for (const NetworkKernel &kernel : layer.kernels) count = std::max(count, kernel.version + 1);
    }
    return count;
}

int64_t build_ns(const std::vector<NetworkLayer> &layers) {
    int64_t sum = 0;
    for (const NetworkLayer &layer : layers) sum += layer.kernels.front().trial.build_ns.value_or(0);
    return sum;
}

void leave_out_version(size_t version, std::vector<NetworkLayer> *layers) {
    for (NetworkLayer &layer : *layers)
        std::erase_if(layer.kernels, [&](const NetworkKernel &kernel) { return kernel.version == version; });
    std::erase_if(*layers, [](const NetworkLayer &layer) { return layer.kernels.size() < 2; });
}

Result<NetworkRaceResult> race_in_network(std::vector<NetworkLayer> layers, const RunVersion &run,
                                          const NetworkRaceTime &time) {
    return NetworkRace(std::move(layers), run, time).run();
}

Result<std::optional<std::vector<VersionCalls>>> compare_versions(const std::vector<size_t> &versions,
                                                                  const RunVersion &run, const NetworkRaceTime &time) {
    std::optional<std::vector<VersionCalls>> calls(std::in_place);
    for (const size_t version : versions) calls->push_back({version, {}});
    HeatTimes times(time);
    for (size_t heat = 0; heat < rules.fewest_heats; heat++) {
        if (heat > 0 && !times.has_time()) return std::optional<std::vector<VersionCalls>>();
        const Result<VersionsHeat> ran = run_heat(versions, heat, run, time);
        if (!ran) return ran.error();
        if (!ran->failures.empty()) return std::optional<std::vector<VersionCalls>>();
        for (VersionCalls &of : *calls) of.heats.push_back(call_samples(ran->reports.at(of.version)));
    }
    return calls;
}

double call_ratio(const VersionCalls &numerator, const VersionCalls &denominator) {
    return paired_ratio(numerator.heats, denominator.heats).ratio;
}

std::vector<Race> races_of(const NetworkRaceResult &result, const std::string &network, const std::string &created_at) {
    std::vector<Race> races;
    for (size_t l = 0; l < result.layers.size(); l++) {
        if (result.layers[l].kernels.size() < 2) continue;
        const Trial &trial = result.layers[l].kernels.front().trial;
        Race &race = races.emplace_back();
        race.workload = trial.workload, race.target = trial.target, race.threads = trial.threads;
        race.machine = trial.machine, race.toolchain = trial.toolchain;
        race.cache = trial.cache, race.error_budget = trial.error_budget;
        race.metric = Metric::ns;
        race.confidence = ratio_confidence;
        race.conditions = to_json(RaceConditions{result.conditions, {}, {}, network});
        race.created_at = created_at;
        for (const RacePlace &place : result.places[l]) {
            RaceEntry &entry = race.entries.emplace_back();
            entry.trial = result.layers[l].kernels[place.entrant].trial.id;
            entry.ratio = place.to_winner.ratio;
            entry.ratio_lo = place.to_winner.lo, entry.ratio_hi = place.to_winner.hi;
            for (const Samples &heat : result.entrants[l][place.entrant].heats)
                entry.samples.insert(entry.samples.end(), heat.begin(), heat.end());
        }
    }
    return races;
}

}  // namespace kiln
