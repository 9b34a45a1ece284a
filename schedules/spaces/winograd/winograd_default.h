// The candidate of the template `winograd` that a layer gets without a trial.
#pragma once

#include "schedules/spaces/winograd/winograd_knobs.h"
#include "schedules/spaces/winograd/winograd_rules.h"

namespace kiln {

// A function of the facts alone, chosen from the domains.
WinogradKnobs default_winograd_knobs(const WinogradFacts &facts, const WinogradDomains &domains);

}  // namespace kiln
