// One case of a conformance manifest, from JSON to a workload and its files. Used by check/conformance_suite.cpp.
#pragma once

#include <string>

#include "check/conformance_suite.h"
#include "json/json_value.h"

namespace kiln {

// `folder` is what file names are relative to, `manifest` what errors call the manifest.
Result<ConformanceCase> parse_conformance_case(const Json &object, const std::string &folder,
                                               const std::string &manifest);

}  // namespace kiln
