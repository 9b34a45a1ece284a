// Counts of a simulation as JSON: what kiln-simulate writes, and what measurements are recorded with.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "simulate/execution.h"

namespace kiln {

nlohmann::ordered_json json_of(const Counts &counts);

}  // namespace kiln
