// A picture of `kiln query pareto`: how many cycles all layers take where their code may have so many bytes. One SVG file that
// needs nothing else, with a line for each core and toolchain.
#pragma once

#include <string>

#include "cli/answers/table.h"

namespace kiln {

// Precondition: rows of pareto_table(), one at least.
std::string pareto_chart(const Table &table);

}  // namespace kiln
