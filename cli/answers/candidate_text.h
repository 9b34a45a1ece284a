// Candidates for people: knobs that have their default value are left out, `/…` at the end stands for them.
//
//   direct@1/cpu_tile@2/panel_block:1/pixels:19/row_block:1/rows:1/unroll:8/vectors:1  ->  direct@1/cpu_tile@2/pixels:19/…
//
// The default is that of the candidate's own algorithm on its workload, target and machine, as the catalog knows it, so
// the short text still says which candidate it is. A candidate that this kiln has no default for (another version, other
// knobs, a text that cannot be read) stays whole.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "database/table.h"
#include "schedules/candidate.h"
#include "workload/machine.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

// Where a candidate was tried.
struct CandidatePlace {
    const Workload &workload;
    const Target &target;
    const Machine &machine;
};

inline constexpr const char *short_candidates_note = "`/…` stands for knobs at their default; --wide shows whole texts";

std::string short_text(const Candidate &candidate, const CandidatePlace &place);

// The same for the column `candidate` of an answer that also has `workload`, `target`, `threads` and `machine`. Answers
// whether any text became shorter.
bool shorten_candidates(Table *table);

}  // namespace kiln
