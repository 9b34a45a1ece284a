// One case of a conformance manifest, from JSON to a workload and its files. check/conformance_suite.cpp uses it.
#pragma once

#include <string>

#include "check/conformance_suite.h"
#include "json/json_value.h"

namespace kiln {

// File names are relative to `folder`. Errors call the manifest `manifest`.
Result<ConformanceCase> parse_conformance_case(const Json &object, const std::string &folder,
                                               const std::string &manifest);

}  // namespace kiln
