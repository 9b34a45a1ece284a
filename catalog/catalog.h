// The catalog: every algorithm that kiln knows, in one table. An algorithm says where it applies (and where not, why
// not) and which space of schedules it offers; its Halide side is the generator of the same name.
//
// Std only: the tuner and the command line read the catalog without Halide.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/machine.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"
#include "schedules/space.h"

namespace kiln {

struct Algorithm {
    std::string_view name;
    int version;  // of the mathematics; a change that alters results or packed weights makes a new one
    std::string_view summary;
    Status (*applies)(const Workload &, const Target &);
    // Precondition: applies. Domains and constraints follow from workload and target; the machine moves the default
    // only, so that a candidate measured on one machine can be built on another.
    Space (*space)(const Workload &, const Target &, const Machine &);
    // It transforms operands first (Winograd), so that sums of small integers need not come out exact.
    bool reassociates = false;
    // Its kernels take an input that their `prepare` made, and are timed without that: no match for those that take the
    // plain input. Used only where a name is asked for that is more than `*`.
    bool prepares = false;
};

// Why algorithms refused, those with the same reason together: "direct: ...; winograd_2, winograd_4: ...".
class Refusals {
public:
    void add(std::string_view algorithm, const std::string &reason);
    std::string text() const;

private:
    std::vector<std::pair<std::string, std::string>> names_by_reason_;  // in the order of their first names
};

std::span<const Algorithm> catalog();
// The same with the algorithm that the workload gets where nothing was measured first (catalog/algorithm_rules.h).
std::vector<const Algorithm *> by_preference(const Workload &workload, const Target &target);
const Algorithm *find_algorithm(std::string_view name);

// The candidate that is used where nothing was measured: a function of workload, target and machine facts alone.
// The error joins the reasons of every algorithm that refused.
Result<Candidate> default_candidate(const Workload &workload, const Target &target, const Machine &machine);

// Whether a recorded candidate can still be built: known algorithm and template, same versions, inside the space.
Status check_candidate(const Candidate &candidate, const Workload &workload, const Target &target,
                       const Machine &machine);

}  // namespace kiln
