// The candidate of the template `winograd` that a layer gets without a trial.
#pragma once

#include "schedules/spaces/winograd/winograd_knobs.h"
#include "schedules/spaces/winograd/winograd_rules.h"

namespace kiln {

// How many times as long the products of an image take in the best of all register tiles as the multipliers need for them: tiles
// overlap, wait for loads or have too few sums.
double winograd_slowness(const WinogradFacts &facts);

// A function of the facts alone, chosen from the domains.
WinogradKnobs default_winograd_knobs(const WinogradFacts &facts, const WinogradDomains &domains);

}  // namespace kiln
