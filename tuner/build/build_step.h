// Processes of a build, one by one: each is run to its end, and its failure is the candidate's or the machine's.
#pragma once

#include <string>

#include "tuner/build/attempt.h"
#include "tuner/build/builder.h"
#include "tuner/build/generator_builder.h"
#include "tuner/process/child_process.h"
#include "workload/result.h"

namespace kiln {

// The first line that `executable --version` prints. Errors (environment): it does not run.
Result<std::string> version_of(const std::string &executable);

// What the process printed, or the failure, which begins with `what`. Errors: a full disk, an interrupt.
Result<Attempt<std::string>> run_step(const ChildRequest &request, const std::string &what);

// Whether kiln-generator is there and can run here.
Status check_generator(const GeneratorBuilderOptions &options);

// kiln-generator for a request, which writes `output`.
ChildRequest generator_request(const GeneratorBuilderOptions &options, const BuildRequest &request,
                               const std::string &output);

}  // namespace kiln
