#include "tuner/search/evolutionary_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace kiln {
namespace {

// Breeding begins after this many valid trials, or where most trials fail, after this many trials.
constexpr size_t first_valid = 8, first_trials = 20;
constexpr size_t most_parents = 12;
constexpr int explore_percent = 20, cross_percent = 30, second_mutation_percent = 35, neighbour_percent = 60;
constexpr double far_behind = 1.5;  // an algorithm's best time over the best time of all algorithms
constexpr int far_behind_percent = 20;
constexpr int hopeless_failures = 3;  // of an algorithm without a valid trial, while another has one
constexpr int tries = 50;
// The number of candidates that the model chooses from, and how much it prefers candidates that it knows little about.
constexpr int children_in_pool = 40, draws_in_pool = 40;
constexpr double curiosity = 1.0;

}  // namespace

EvolutionarySearch::EvolutionarySearch(std::vector<Space> spaces, uint64_t seed)
    : spaces_(spaces), random_(std::move(spaces), seed), rng_(seed ^ 0x9e3779b97f4a7c15) {
    std::set<std::string> names;
    for (const Space &space : spaces_) {
        for (const Knob &knob : space.knobs()) names.insert(knob.name);
    }
    knob_names_.assign(names.begin(), names.end());
}

void EvolutionarySearch::observe(std::span<const Observation> observations) {
    random_.observe(observations);
    for (const Observation &o : observations) {
        known_.insert(o.candidate);
        observed_++;
        rows_.push_back(features(o.candidate));
        log_ns_.push_back(o.time_ns ? std::optional(std::log(*o.time_ns)) : std::nullopt);
        if (!o.time_ns) {
            failures_[o.candidate.algorithm]++;
            continue;
        }
        parents_.insert({*o.time_ns, o.candidate});
        const auto [best, is_first] = fastest_.try_emplace(o.candidate.algorithm, *o.time_ns);
        if (!is_first) best->second = std::min(best->second, *o.time_ns);
    }
}

std::optional<Candidate> EvolutionarySearch::propose() {
    std::optional<Candidate> candidate;
    const bool knows_enough = parents_.size() >= first_valid || (observed_ >= first_trials && !parents_.empty());
    if (knows_enough && !chance(explore_percent)) candidate = most_promising();
    if (!candidate) candidate = explore();
    if (!candidate) return std::nullopt;
    known_.insert(*candidate);
    const Observation proposed{*candidate, std::nullopt};
    random_.observe({&proposed, 1});  // so that it draws nothing twice
    return candidate;
}

// A random draw. Draws of algorithms that lag behind are mostly put off until nothing else is new.
std::optional<Candidate> EvolutionarySearch::explore() {
    for (int i = 0; i < tries; i++) {
        std::optional<Candidate> drawn = random_.propose();
        if (!drawn) break;
        if (!lags_behind(*drawn) || chance(far_behind_percent)) return drawn;
        put_off_.push_back(std::move(*drawn));
    }
    while (!put_off_.empty()) {
        Candidate candidate = std::move(put_off_.back());
        put_off_.pop_back();
        if (!known_.contains(candidate)) return candidate;  // a child may have been the same
    }
    return std::nullopt;
}

// Makes children of the fastest candidates and random draws; answers the one with the shortest time that the model
// thinks possible.
std::optional<Candidate> EvolutionarySearch::most_promising() {
    fit();
    std::set<Candidate> pool;
    for (int i = 0; i < children_in_pool; i++) {
        if (std::optional<Candidate> candidate = child()) pool.insert(std::move(*candidate));
    }
    for (int i = 0; i < draws_in_pool; i++) {
        if (std::optional<Candidate> candidate = draw()) pool.insert(std::move(*candidate));
    }
    std::optional<Candidate> best;
    double least = 0;
    for (const Candidate &candidate : pool) {
        const Prediction p = model_->predict(features(candidate));
        const double possible = p.mean - curiosity * p.deviation;
        if (best && possible >= least) continue;
        best = candidate;
        least = possible;
    }
    return best;
}

// A random candidate of an algorithm that some parent has.
std::optional<Candidate> EvolutionarySearch::draw() {
    const Space *space = space_of(select().candidate);
    std::optional<Candidate> candidate = space ? space->sample(rng_, tries) : std::nullopt;
    if (candidate && known_.contains(*candidate)) return std::nullopt;
    return candidate;
}

FeatureRow EvolutionarySearch::features(const Candidate &candidate) const {
    FeatureRow row;
    const auto space = std::find_if(spaces_.begin(), spaces_.end(), [&](const Space &s) {
        return s.default_candidate().algorithm == candidate.algorithm;
    });
    row.push_back(static_cast<double>(space - spaces_.begin()));
    for (const std::string &name : knob_names_) {
        const auto found = candidate.knobs.find(name);
        // Small numbers differ more than large ones.
        row.push_back(found == candidate.knobs.end() ? -1 : std::log2(1 + static_cast<double>(found->second)));
    }
    return row;
}

// A failed trial counts as the slowest one, because nothing is to be found near it.
void EvolutionarySearch::fit() {
    if (model_ && observed_ < fitted_ + std::max<size_t>(1, fitted_ / 20)) return;
    double slowest = std::log(parents_.begin()->time_ns);
    for (const auto &log_ns : log_ns_) slowest = std::max(slowest, log_ns.value_or(slowest));
    std::vector<double> values;
    for (const auto &log_ns : log_ns_) values.push_back(log_ns.value_or(slowest));
    model_.emplace(rows_, values, rng_());
    fitted_ = observed_;
}

std::optional<Candidate> EvolutionarySearch::child() {
    for (int i = 0; i < tries; i++) {
        const Parent &parent = select();
        const Space *space = space_of(parent.candidate);
        if (!space) continue;  // recorded by another version
        Candidate candidate = parent.candidate;
        bool is_crossed = false;
        if (chance(cross_percent)) {
            const Parent &other = select();
            is_crossed = other.candidate.algorithm == parent.candidate.algorithm && space->check(other.candidate);
            if (is_crossed) candidate = crossed(parent, other);
        }
        if (!is_crossed || chance(second_mutation_percent)) mutate(*space, &candidate);
        space->leave_out_zeros(&candidate.knobs);
        if (!known_.contains(candidate) && space->check(candidate)) return candidate;
    }
    return std::nullopt;
}

// The better of two draws among the fastest.
const EvolutionarySearch::Parent &EvolutionarySearch::select() {
    const size_t count = std::min(parents_.size(), most_parents);
    const size_t rank = std::min(rng_() % count, rng_() % count);
    return *std::next(parents_.begin(), static_cast<std::ptrdiff_t>(rank));
}

Candidate EvolutionarySearch::crossed(const Parent &first, const Parent &second) {
    Candidate candidate = first.candidate;
    for (const auto &[name, value] : second.candidate.knobs) candidate.knobs.try_emplace(name, 0);
    for (auto &[name, value] : candidate.knobs) {
        const auto other = second.candidate.knobs.find(name);
        if (chance(50)) value = other == second.candidate.knobs.end() ? 0 : other->second;
    }
    return candidate;
}

void EvolutionarySearch::mutate(const Space &space, Candidate *candidate) {
    std::vector<const Knob *> choices;
    for (const Knob &knob : space.knobs()) {
        if (knob.values.size() > 1) choices.push_back(&knob);
    }
    if (choices.empty()) return;
    do {
        const Knob &knob = *choices[rng_() % choices.size()];
        const auto size = static_cast<int64_t>(knob.values.size());
        int64_t &value = candidate->knobs[knob.name];
        const int64_t at = std::lower_bound(knob.values.begin(), knob.values.end(), value) - knob.values.begin();
        int64_t next = static_cast<int64_t>(rng_() % static_cast<uint64_t>(size));
        if (chance(neighbour_percent)) next = std::clamp<int64_t>(at + (chance(50) ? 1 : -1), 0, size - 1);
        value = knob.values[static_cast<size_t>(next)];
    } while (chance(second_mutation_percent));
}

const Space *EvolutionarySearch::space_of(const Candidate &candidate) const {
    for (const Space &space : spaces_) {
        if (space.check(candidate)) return &space;
    }
    return nullptr;
}

bool EvolutionarySearch::lags_behind(const Candidate &candidate) const {
    const auto best = fastest_.find(candidate.algorithm);
    if (best == fastest_.end() && !parents_.empty()) {
        const auto failed = failures_.find(candidate.algorithm);
        return failed != failures_.end() && failed->second >= hopeless_failures;
    }
    return best != fastest_.end() && best->second > far_behind * parents_.begin()->time_ns;
}

}  // namespace kiln
