// `kiln query pareto`: what the layers of a network cost a soft core together, cycles against bytes of code. A row is a choice
// of recorded kernels that is best for some limit of code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/answers/table.h"
#include "database/trial_store.h"
#include "workload/result.h"

namespace kiln {

// `workloads`: only layers of these keys. Layers without counted cycles are left out; how many goes to `without`. Errors
// (unsupported): no cycles were counted.
Result<Table> pareto_table(const TrialStore &store, const std::optional<std::vector<std::string>> &workloads,
                           size_t *without);
// For people: each row has at least 2 % more code than the one before, and the last of a core stays.
void thin_pareto(Table *table);
const TableForm &pareto_form();

}  // namespace kiln
