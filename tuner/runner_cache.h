// The state of the caches before a call that is measured with cold weights.
#pragma once

#include "tuner/runner_call.h"

namespace kiln {

// Evicts the weights, as the call reads them, and brings everything else that it reads or writes into the caches.
void make_cold(const Call &call);

}  // namespace kiln
