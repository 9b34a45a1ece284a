// `kiln explain LIB|MANIFEST [KERNEL]`: where the kernels of a package come from.
#pragma once

#include <string>

#include "cli/command.h"

namespace kiln {

struct ExplainPackageArguments {
    std::string path;    // a package's folder, manifest or library, or a program
    std::string kernel;  // a glob over layers, keys and targets; empty: a row for every kernel
    std::string filter;  // a glob over list/name: only these kernels
    AnswerOptions answer;
};

// Answers the exit status.
int explain_package(const ExplainPackageArguments &arguments);

}  // namespace kiln
