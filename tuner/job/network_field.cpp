#include "tuner/job/network_field.h"

#include <algorithm>
#include <set>

#include "records/race_conditions.h"
#include "tuner/job/racing/recorded_time.h"
#include "tuner/race/race_field.h"

namespace kiln {
namespace {

// A time alone says less of a time in the network than of the next time alone. So more kernels are close than in other races.
constexpr FieldRules rules = {.top = 4, .close = 1.15, .not_worth_it = 1.5};

bool is_comparable(const Trial &trial, const ChoiceContext &context) {
    return trial.toolchain == context.toolchain && trial.cache == context.caches.front() &&
           trial.error_budget == context.error_budget;
}

// The one in use, then the default where it is another one, then the others, the fastest first.
std::vector<NetworkKernel> kernels_in_order(const std::vector<NetworkKernel> &field, const Trial &in_use) {
    std::vector<NetworkKernel> kernels;
    const auto add = [&](size_t version, const auto &is_wanted) {
        for (NetworkKernel kernel : field) {
            const auto is_same = [&](const NetworkKernel &k) {
                return k.trial.object_hash == kernel.trial.object_hash;
            };
            if (!is_wanted(kernel) || std::ranges::any_of(kernels, is_same)) continue;
            kernel.version = version;
            version += version > 1;
            kernels.push_back(std::move(kernel));
        }
    };
    add(0, [&](const NetworkKernel &k) { return k.trial.object_hash == in_use.object_hash; });
    if (kernels.empty()) return kernels;
    add(1, [](const NetworkKernel &k) { return k.is_default; });
    add(2, [](const NetworkKernel &) { return true; });
    return kernels;
}

Result<bool> raced_there(const NetworkLayer &layer, const std::string &network, const ChoiceContext &context) {
    const Trial &trial = layer.kernels.front().trial;
    const Result<std::vector<Race>> races = context.store->races({.workload = trial.workload,
                                                                  .target = trial.target,
                                                                  .machine = trial.machine,
                                                                  .toolchain = trial.toolchain,
                                                                  .candidate = {},
                                                                  .threads = trial.threads,
                                                                  .cache = trial.cache,
                                                                  .error_budget = trial.error_budget,
                                                                  .within_budget = {}});
    if (!races) return races.error();
    if (races->empty() || raced_network(races->back().conditions) != network) return false;
    std::set<std::string> raced;
    for (const RaceEntry &entry : races->back().entries) raced.insert(entry.trial);
    return std::ranges::all_of(layer.kernels, [&](const NetworkKernel &k) { return raced.contains(k.trial.id); });
}

Result<NetworkLayer> layer_of(const LayerSteps &steps, const ChoiceContext &context) {
    NetworkLayer layer{steps.workload, steps.steps, {}};
    const auto usable = usable_algorithms(steps.workload, context);
    if (!usable || usable->empty()) return layer;
    const Result<CandidateChoice> in_use = choose_candidate(steps.workload, *usable, context);
    if (!in_use) return in_use.error();
    if (!in_use->best || !is_comparable(in_use->best->trial, context)) return layer;
    const auto recorded = recorded_candidates(steps.workload, *usable, context);
    if (!recorded) return recorded.error();
    const Candidate standard =
        usable->front()->space(steps.workload, context.target, core_of(context)).default_candidate();
    std::vector<Contender> contenders;
    std::vector<const CandidateChoice *> choices;
    const std::string &object_in_use = in_use->best->trial.object_hash;
    for (const CandidateChoice &choice : *recorded) {
        const Trial &trial = choice.best->trial;
        if (!is_comparable(trial, context)) continue;
        contenders.push_back({trial.object_hash, trial.object_bytes.value_or(0),
                              recorded_time_of(choice.best->measurement).quiet, trial.object_hash == object_in_use,
                              choice.candidate == standard});
        choices.push_back(&choice);
    }
    if (contenders.empty()) return layer;
    std::vector<NetworkKernel> field;
    for (const size_t i : race_field(contenders, rules))
        field.push_back({0, choices[i]->candidate, choices[i]->best->trial, contenders[i].is_default});
    layer.kernels = kernels_in_order(field, in_use->best->trial);
    return layer;
}

}  // namespace

Result<std::vector<NetworkLayer>> network_field(const std::vector<LayerSteps> &layers, const std::string &network,
                                                const ChoiceContext &context) {
    std::vector<NetworkLayer> racing;
    for (const LayerSteps &steps : layers) {
        Result<NetworkLayer> layer = layer_of(steps, context);
        if (!layer) return layer.error();
        if (layer->kernels.size() < 2) continue;
        const Result<bool> is_known = raced_there(*layer, network, context);
        if (!is_known) return is_known.error();
        if (!*is_known) racing.push_back(std::move(*layer));
    }
    return racing;
}

}  // namespace kiln
