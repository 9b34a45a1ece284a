// The members of a TrialStore, for the files that implement it.
#pragma once

#include <string>
#include <vector>

#include "database/sqlite.h"
#include "database/trial_store.h"

namespace kiln {

struct TrialStore::State {
    Connection connection;
    std::vector<std::string> notes;
};

}  // namespace kiln
