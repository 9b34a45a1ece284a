#include "cli/network/peer_steps.h"

#include <algorithm>
#include <map>
#include <utility>

namespace kiln {
namespace {

int64_t operations(const network::Step &step) {
    const auto *call = std::get_if<network::KernelCall>(&step.work);
    return call ? flop_count(call->workload) : 0;
}

}  // namespace

PeerSteps peer_steps(const std::string &peer, const PeerProfile &profile, const network::Program &program) {
    std::multimap<std::string, size_t> steps_of;  // by the names of the model's nodes
    for (size_t i = 0; i < program.steps.size(); i++) {
        for (const std::string &origin : program.steps[i].origins) steps_of.emplace(origin, i);
    }
    PeerSteps found{.peer = peer, .ns = std::vector<std::optional<double>>(program.steps.size())};
    for (const PeerNode &node : profile) {
        found.all_ns += node.ns;
        std::map<size_t, int> votes;
        for (const std::string &name : node.names) {
            const auto [begin, end] = steps_of.equal_range(name);
            for (auto step = begin; step != end; ++step) votes[step->second]++;
        }
        const auto most = std::ranges::max_element(
            votes, {}, [&](const auto &vote) { return std::pair(vote.second, operations(program.steps[vote.first])); });
        if (most == votes.end()) {
            found.elsewhere_ns += node.ns;
        } else {
            std::optional<double> &ns = found.ns[most->first];
            ns = ns.value_or(0) + node.ns;
        }
    }
    return found;
}

}  // namespace kiln
