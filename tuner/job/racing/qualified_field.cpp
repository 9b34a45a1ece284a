#include "tuner/job/racing/qualified_field.h"

#include <algorithm>
#include <map>

#include "tuner/race/qualifying.h"
#include "tuner/race/race_field.h"

namespace kiln {
namespace {

constexpr int most_qualifying_heats = 3, rounds = 5;

// The contestants that stand for an object each: the incumbent's trial, else the default's, else the first.
std::vector<size_t> one_each_object(const std::vector<Contestant> &contestants, const std::string &incumbent) {
    std::map<std::string, size_t> standing;
    for (size_t i = 0; i < contestants.size(); i++) {
        const auto [place, is_new] = standing.try_emplace(contestants[i].trial.object_hash, i);
        const Contestant &now = contestants[place->second], &other = contestants[i];
        if (now.is(incumbent)) continue;
        if (other.is(incumbent) || (other.is_default && !now.is_default)) place->second = i;
    }
    std::vector<size_t> objects;
    for (const auto &[object, i] : standing) objects.push_back(i);
    std::sort(objects.begin(), objects.end());
    return objects;
}

class Qualifying {
public:
    Qualifying(const std::vector<Contestant> &contestants, const std::string &incumbent) : contestants_(contestants) {
        for (const size_t i : one_each_object(contestants, incumbent)) {
            const Contestant &c = contestants_[i];
            objects_.push_back(i);
            times_.push_back({c.time.quiet, c.time.memory, {}, c.is_default || c.is(incumbent)});
        }
    }

    // The next contestants to take turns, as many as time allows but two at least; empty: all that should did.
    std::vector<size_t> next(double time_ns) const {
        std::vector<size_t> drawn;
        for (const size_t t : next_qualifiers(times_, {})) {
            if (!failed_.contains(objects_[t])) drawn.push_back(objects_[t]);
        }
        while (drawn.size() > 2 && heat_ns(contestants_, drawn, rounds) > time_ns) drawn.pop_back();
        return drawn;
    }

    void take(size_t contestant, double ns) { time_of(contestant).turn_ns = ns; }
    void leave_out(size_t contestant) { failed_.insert(contestant); }

    QualifiedField field(const std::string &incumbent) const {
        QualifiedField result;
        std::vector<Contender> contenders;
        std::vector<size_t> who;
        for (size_t t = 0; t < times_.size(); t++) {
            if (!times_[t].turn_ns) continue;
            const Contestant &c = contestants_[objects_[t]];
            contenders.push_back({c.trial.object_hash, c.trial.object_bytes.value_or(0), *times_[t].turn_ns,
                                  c.is(incumbent), c.is_default});
            who.push_back(objects_[t]);
            result.turns.push_back({c.trial.id, *times_[t].turn_ns});
        }
        std::vector<size_t> chosen = race_field(contenders, {});
        if (chosen.size() == 1) add_second(contenders, &chosen);
        for (const size_t i : chosen) result.field.push_back(who[i]);
        return result;
    }

private:
    QualifyingTime &time_of(size_t contestant) {
        return times_[size_t(std::find(objects_.begin(), objects_.end(), contestant) - objects_.begin())];
    }

    // Only a race says for good that the fastest by record is not the fastest.
    static void add_second(const std::vector<Contender> &contenders, std::vector<size_t> *chosen) {
        std::optional<size_t> second;
        for (size_t i = 0; i < contenders.size(); i++) {
            if (i == chosen->front() || (second && contenders[*second].quiet_ns <= contenders[i].quiet_ns)) continue;
            second = i;
        }
        if (second) chosen->push_back(*second);
    }

    const std::vector<Contestant> &contestants_;
    std::vector<size_t> objects_;        // contestants, one for each object
    std::vector<QualifyingTime> times_;  // of these
    std::set<size_t> failed_;            // contestants
};

}  // namespace

Result<QualifiedField> qualify(std::vector<Contestant> *contestants, const RaceHeats &heats,
                               const QualifyingRequest &request) {
    Qualifying qualifying(*contestants, request.incumbent);
    // All heats take turns with the fastest so far: the machine may have changed between them.
    std::optional<size_t> fastest;
    double fastest_ns = 0;
    for (int heat = 0; heat < most_qualifying_heats; heat++) {
        const std::vector<size_t> drawn = qualifying.next(static_cast<double>(request.time_ns));
        Result<std::vector<size_t>> racing = heats.built(contestants, drawn);
        if (!racing) return racing.error();
        for (const size_t i : drawn) {
            if (std::find(racing->begin(), racing->end(), i) == racing->end()) qualifying.leave_out(i);
        }
        if (racing->empty() || (!fastest && racing->size() < 2)) break;
        if (fastest) racing->push_back(*fastest);
        RaceHeats::Heat order{{}, rounds, request.seed + size_t(heat), request.time_ns};
        for (const size_t i : *racing) order.racing.push_back(&(*contestants)[i]);
        const Result<Attempt<HeatReport>> ran = heats.run(order);
        if (!ran) return ran.error();
        if (!ran->ok()) return QualifiedField{{}, {}, FailedHeat{*racing, ran->failure()}};
        std::vector<double> medians;
        for (const Samples &samples : ran->value().times) medians.push_back(summarize(samples).median);
        const double scale = fastest ? fastest_ns / medians.back() : 1;
        if (fastest) racing->pop_back();
        for (size_t k = 0; k < racing->size(); k++) {
            const double ns = scale * medians[k];
            qualifying.take((*racing)[k], ns);
            if (!fastest || ns < fastest_ns) fastest = (*racing)[k], fastest_ns = ns;
        }
    }
    return qualifying.field(request.incumbent);
}

std::vector<size_t> first_qualifiers(const std::vector<Contestant> &contestants, const std::string &incumbent) {
    return Qualifying(contestants, incumbent).next(1e18);
}

}  // namespace kiln
