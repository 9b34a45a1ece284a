// A page about a network's program: its steps as a graph and as a table, and its alterations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/answers/table.h"
#include "network/program.h"

namespace kiln {

// In Graphviz's language. Steps have the colour of their result's layout and say their share of the time, edges are the wider
// the more bytes they stand for. `step_ns` by step; nothing: no time is known.
std::string program_graph(const network::Program &program, const std::vector<std::optional<double>> &step_ns);

struct NetworkPage {
    std::string title;
    std::vector<std::string> summary;
    std::string drawing;  // SVG
    Table steps, alterations;
};
std::string to_html(const NetworkPage &page);

}  // namespace kiln
