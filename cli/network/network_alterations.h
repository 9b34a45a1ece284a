// Which alterations a network got and what they gained, for people: `kiln explain --network M.onnx --pass alterations`.
#pragma once

#include <string>
#include <vector>

#include "cli/answers/table.h"
#include "network/program.h"

namespace kiln {

extern const std::vector<std::string> alteration_columns;

// A row for each place where one applies, chosen or not.
Table alteration_table(const network::Program &program);
TableForm alteration_form();

// "alterations: 3 chosen of 7, ..."; empty where none applies.
std::string alteration_summary(const network::Program &program);

}  // namespace kiln
