// Evolutionary search over the joint space of algorithms and knobs: most proposals change or cross the fastest
// candidates known, the rest are random draws. An algorithm whose best is far behind is drawn less often, but
// never given up. A model of all times so far (tree_ensemble.h) chooses which of many such candidates is proposed: it
// weighs the predicted time against how unsure the prediction is.
//
// This is a regularized evolution with rank selection; see Real et al., "Regularized Evolution for Image Classifier
// Architecture Search" (2019), for the family. Ages play no part here: a recorded time does not fade.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tuner/search/random_search.h"
#include "tuner/search/search.h"
#include "tuner/search/tree_ensemble.h"

namespace kiln {

class EvolutionarySearch : public Search {
public:
    EvolutionarySearch(std::vector<Space> spaces, uint64_t seed);

    std::optional<Candidate> propose() override;
    void observe(std::span<const Observation> observations) override;

private:
    struct Parent {
        double time_ns;
        Candidate candidate;
        bool operator<(const Parent &other) const {
            return time_ns != other.time_ns ? time_ns < other.time_ns : candidate < other.candidate;
        }
    };

    std::optional<Candidate> explore();
    std::optional<Candidate> child();
    std::optional<Candidate> draw();
    std::optional<Candidate> most_promising();
    FeatureRow features(const Candidate &candidate) const;
    void fit();
    const Parent &select();
    Candidate crossed(const Parent &first, const Parent &second);
    void mutate(const Space &space, Candidate *candidate);
    const Space *space_of(const Candidate &candidate) const;
    bool lags_behind(const Candidate &candidate) const;
    bool chance(int percent) { return static_cast<int>(rng_() % 100) < percent; }

    std::vector<Space> spaces_;
    RandomSearch random_;
    Rng rng_;
    std::set<Candidate> known_;
    std::vector<Candidate> put_off_;         // drawn, not proposed
    std::set<Parent> parents_;               // fastest first
    std::map<std::string, double> fastest_;  // by algorithm
    std::map<std::string, int> failures_;    // by algorithm
    size_t observed_ = 0;

    std::vector<std::string> knob_names_;  // of all spaces: the model's columns after the algorithm
    std::vector<FeatureRow> rows_;         // of all observations
    std::vector<std::optional<double>> log_ns_;
    std::optional<TreeEnsemble> model_;
    size_t fitted_ = 0;  // observations in the model
};

}  // namespace kiln
