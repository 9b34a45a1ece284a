#include "network/alter/alter.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "graph/passes/passes.h"
#include "network/alter/network_price.h"
#include "network/alter/same_values.h"

namespace kiln::network {
namespace {

using namespace graph;

// A share of the cost of the nodes that it changes: less is noise of measurements.
constexpr double least_gain = 0.02;

std::string where(const Graph &graph, const std::vector<size_t> &nodes) {
    constexpr size_t most_names = 4;
    std::vector<std::string> names;
    std::unordered_set<std::string_view> known;
    for (const size_t i : nodes) {
        for (const std::string &origin : graph.nodes[i].origins) {
            if (known.insert(origin).second) names.push_back(origin);
        }
    }
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), most_names); i++) text += (i ? ", " : "") + names[i];
    if (names.size() > most_names) text += " and " + std::to_string(names.size() - most_names) + " more";
    return text;
}

// A network, and another that may take its place.
class Weighing {
public:
    Weighing(NetworkPricing &pricing, PricedOnce &before, const Graph &after) {
        const PricedNetwork &old = before.by_estimates(), young = pricing.by_estimates(after);
        changed_ = difference(old.prepared, young.prepared);
        note.where = where(old.prepared, changed_.before);
        const bool has_old = are_measured(pricing, old.prepared, changed_.before);
        const bool has_young = are_measured(pricing, young.prepared, changed_.after);
        note.is_measured = has_old && has_young;
        is_unknown = has_old && !has_young;
        if (note.is_measured) {
            weigh(before.by_times(), pricing.by_times(after));
        } else {
            weigh(old, young);
        }
    }

    AlterationNote note;
    bool is_unknown = false;  // the new kernels alone were not measured

private:
    // What a node costs is the same on both sides where it is on both; moves around them count for the change.
    void weigh(const PricedNetwork &before, const PricedNetwork &after) {
        note.before_ns = 0;
        for (const size_t i : changed_.before) note.before_ns += before.node_ns[i];
        note.after_ns = std::max(0.0, note.before_ns + after.all_ns - before.all_ns);
    }

    static bool are_measured(const NetworkPricing &pricing, const Graph &graph, const std::vector<size_t> &nodes) {
        bool has_convolution = false;
        for (const size_t i : nodes) {
            const std::optional<bool> is_measured = pricing.is_measured(graph, graph.nodes[i]);
            if (is_measured && !*is_measured) return false;
            has_convolution = has_convolution || is_measured;
        }
        return has_convolution;
    }

    Difference changed_;
};

class Altering {
public:
    Altering(const Graph &graph, const AlterOptions &options)
        : now_(graph), options_(options), pricing_(options.prices) {}

    Status run(const Alteration &alteration) {
        if (options_.is_off(alteration.name)) return {};
        std::unordered_set<std::string> seen;  // nodes by the names of their results
        const auto is_new = [&](const Node &node) { return !seen.contains(now_.values[node.output].name); };
        std::vector<size_t> left;  // once there is one, nothing changes any more
        for (size_t i = 0; i < now_.nodes.size();) {
            const Node &node = now_.nodes[i];
            seen.insert(now_.values[node.output].name);
            const Result<Seen> place = visit(alteration, node);
            if (!place) return place.error();
            if (*place == Seen::left) left.push_back(i);
            // A patch may put its nodes before those that were seen.
            const auto from = now_.nodes.begin() + (*place == Seen::changed ? 0 : std::ptrdiff_t(i) + 1);
            i = size_t(std::find_if(from, now_.nodes.end(), is_new) - now_.nodes.begin());
        }
        if (!left.empty()) notes_.push_back(not_weighed(alteration, left));
        return {};
    }

    Altered finish() && { return {std::move(now_), std::move(notes_)}; }

private:
    enum class Seen { as_it_is, changed, left };  // left: something applies there, and was not weighed

    // The best of its patches, if it costs less.
    Result<Seen> visit(const Alteration &alteration, const Node &node) {
        const std::string name = now_.values[node.output].name;
        if (!index_) index_.emplace(now_);
        const Result<std::vector<Patch>> patches = alteration.at(*index_, node);
        if (!patches) return patches.error();
        if (patches->empty()) return Seen::as_it_is;
        if (pricing_.priced_nodes() >= options_.most_priced_nodes) return Seen::left;
        if (!priced_) priced_.emplace(pricing_, now_);
        std::optional<AlterationNote> best;
        const Patch *best_patch = nullptr;
        Graph best_graph;
        for (const Patch &patch : *patches) {
            Result<Graph> graph = apply(now_, patch);
            if (!graph && alteration.library.empty()) {
                // A fault of kiln's own is no fault of the model: the place stays as it is.
                assert(false && "an alteration of kiln makes a wrong patch");
                continue;
            }
            if (!graph) return bad_input("at node '" + name + "': " + graph.error().message);
            Weighing weighing(pricing_, *priced_, *graph);
            AlterationNote note = judged(alteration, weighing);
            const auto gain = [](const AlterationNote &n) { return n.before_ns - n.after_ns; };
            if (best && (best->is_chosen > note.is_chosen || gain(*best) >= gain(note))) continue;
            best = std::move(note);
            best_patch = &patch;
            best_graph = std::move(*graph);
        }
        if (!best) return Seen::as_it_is;
        if (best->is_chosen && !alteration.library.empty()) {
            if (Status s = check_same_values(now_, *best_patch, best_graph); !s) {
                return bad_input("at node '" + name + "': " + s.error().message);
            }
        }
        const bool is_chosen = best->is_chosen;
        notes_.push_back(std::move(*best));
        if (!is_chosen) return Seen::as_it_is;
        now_ = std::move(best_graph);
        index_.reset();
        priced_.reset();
        return Seen::changed;
    }

    AlterationNote not_weighed(const Alteration &alteration, const std::vector<size_t> &nodes) const {
        AlterationNote note;
        note.alteration = alteration.name;
        note.where = where(now_, nodes);
        note.reason = AlterationNote::Reason::not_weighed;
        return note;
    }

    AlterationNote judged(const Alteration &alteration, const Weighing &weighing) const {
        using enum AlterationNote::Reason;
        AlterationNote note = weighing.note;
        note.alteration = alteration.name;
        const bool hopes = options_.prices.unmeasured == Unmeasured::as_fast && !note.is_measured;
        const double trust = hopes ? alteration.hope : note.is_measured ? 1 : alteration.doubt;
        const double after = note.after_ns * trust;
        // A share of nothing is as much as nothing.
        const bool gains = after < note.before_ns && after <= (1 - least_gain) * note.before_ns;
        note.reason = weighing.is_unknown && !hopes ? not_measured : gains ? costs_less : gains_too_little;
        note.is_chosen = note.reason == costs_less;
        return note;
    }

    Graph now_;
    std::optional<GraphIndex> index_;  // of `now_`: one for all nodes, since a network may have thousands
    const AlterOptions &options_;
    NetworkPricing pricing_;
    std::optional<PricedOnce> priced_;  // `now_`: one for all patches
    std::vector<AlterationNote> notes_;
};

using Off = std::set<std::string_view>;

// By pass: the graph before it, and behind them the result. Only what is before or behind an optional pass is kept, since graphs of
// long lists of indices are large.
std::vector<Graph> stages_of(Graph graph, size_t first, const Off &off) {
    std::vector<Graph> stages(first);
    for (size_t i = first; i < passes().size(); i++) {
        const bool is_asked = passes()[i].is_optional || (i > 0 && passes()[i - 1].is_optional);
        stages.push_back(is_asked ? graph : Graph{});
        if (!off.contains(passes()[i].name)) graph = passes()[i].run(graph);
    }
    stages.push_back(std::move(graph));
    return stages;
}

// The passes, without those optional ones that are off or that cost more by recorded times. Estimates are too crude for a whole
// network: they count a move twice that two readers share.
Altered run_optional_passes(const Graph &imported, const AlterOptions &options) {
    Off off;
    for (const Pass &pass : passes()) {
        if (pass.is_optional && options.is_off(pass.name)) off.insert(pass.name);
    }
    std::vector<Graph> stages = stages_of(imported, 0, off);
    NetworkPricing pricing(options.prices);
    std::vector<AlterationNote> notes;
    for (size_t i = 0; i < passes().size(); i++) {
        const Pass &pass = passes()[i];
        if (!pass.is_optional || off.contains(pass.name) || stages[i].nodes == stages[i + 1].nodes) continue;
        std::vector<Graph> without = stages_of(stages[i], i + 1, off);
        PricedOnce before(pricing, without.back());
        Weighing weighing(pricing, before, stages.back());
        weighing.note.alteration = std::string(pass.name);
        const AlterationNote &note = weighing.note;
        weighing.note.is_chosen = !note.is_measured || note.before_ns >= (1 - least_gain) * note.after_ns;
        notes.push_back(weighing.note);
        if (weighing.note.is_chosen) continue;
        notes.back().reason = AlterationNote::Reason::gains_too_little;
        off.insert(pass.name);
        for (size_t k = i + 1; k < stages.size(); k++) stages[k] = std::move(without[k]);
    }
    return {std::move(stages.back()), std::move(notes)};
}

}  // namespace

Result<Altered> alter(const Graph &graph, std::span<const Alteration> alterations, const AlterOptions &options) {
    Altering altering(graph, options);
    for (const Alteration &alteration : alterations) {
        if (Status s = altering.run(alteration); !s) {
            const std::string library = alteration.library.empty() ? "" : alteration.library + ": ";
            return Error{s.error().code, library + "alteration `" + alteration.name + "`: " + s.error().message};
        }
    }
    return std::move(altering).finish();
}

Result<Altered> improve(const Graph &imported, const AlterOptions &options) {
    Altered passed = run_optional_passes(imported, options);
    std::vector<Alteration> all(alterations().begin(), alterations().end());
    all.insert(all.end(), options.more.begin(), options.more.end());
    Result<Altered> altered = alter(passed.graph, all, options);
    if (altered) altered->notes.insert(altered->notes.begin(), passed.notes.begin(), passed.notes.end());
    return altered;
}

}  // namespace kiln::network
