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

#include "schedules/space.h"
#include "workload/core.h"
#include "workload/error_budget.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

struct Algorithm {
    std::string_view name;
    int version;  // of the mathematics; a change that alters results or packed weights makes a new one
    std::string_view summary;
    // What `applies` and `space` answer, from the algorithm's file in catalog/. One function may serve several algorithms
    // and tells them apart by name; `base` has name and version.
    Status (*conditions)(std::string_view name, const Workload &workload, const Target &target);
    Space (*schedules)(const Candidate &base, const Workload &workload, const Target &target, const Core &core);
    // It transforms operands first, as Winograd does. Sums of small integers need not come out exact.
    bool reassociates = false;
    // Its kernels take an input that their `prepare` made, and are timed without that: no match for those that take the
    // plain input. Used only where a name is asked for that is more than `*`.
    bool prepares = false;
    // On a soft core it is searched only where nothing else applies, or where a name is asked for that is more than `*`: its kernels
    // take some three times the cycles of others', and single ones half a minute of the C compiler.
    bool last_on_soft_cores = false;
    // It computes convolutions with a prologue, too; with a depthwise one in front.
    bool has_prologue = false, has_depthwise = false;

    Status applies(const Workload &workload, const Target &target) const;
    // Precondition: applies. Domains and constraints follow from workload and target; the core's caches move the
    // default, so that a candidate measured on one machine can be built on another. Limits of what compiles in time let
    // a default pass that is beyond them, on the core that has it.
    Space space(const Workload &workload, const Target &target, const Core &core) const;
};

// Why algorithms refused, those with the same reason together: "direct: ...; winograd_2, winograd_4: ...", and without their
// names where they are many: "12 algorithms: ...". `kiln explain` has all of them.
class Refusals {
public:
    void add(std::string_view algorithm, const std::string &reason);
    std::string text() const;

private:
    std::vector<std::pair<std::string, std::vector<std::string>>>
        names_by_reason_;  // in the order of their first names
};

std::span<const Algorithm> catalog();
const Algorithm *find_algorithm(std::string_view name);

// All algorithms, whether they apply or not, the one to use untuned first: those whose rule holds, in the order of the rules
// (catalog/algorithm_rules.h), then all others in the order of the catalog. Where the budget of errors is less than the default,
// those that reassociate come last: what nobody measured must not be less accurate than was asked for. Every command has its
// default from here: of the algorithms that it may use, the first that applies.
std::vector<const Algorithm *> by_preference(const Workload &workload, const Target &target, const Core &core,
                                             double error_budget);

// The default where all algorithms may be used. The error joins the reasons of every algorithm that refused.
Result<Candidate> default_candidate(const Workload &workload, const Target &target, const Core &core,
                                    double error_budget);

// Whether the untuned kernel of a convolution that reads few channels from NCHW, and writes channels-last, has the same direct sums as where
// they lie side by side. Each number of the input is broadcast in both, so that it takes as long
// (docs/measurements/layouts.md). Other workloads: false.
bool reads_planes_as_fast(const Workload &workload, const Target &target, const Core &core, double error_budget);

// Whether a recorded candidate can still be built: known algorithm and template, same versions, inside the space.
Status check_candidate(const Candidate &candidate, const Workload &workload, const Target &target);

}  // namespace kiln
