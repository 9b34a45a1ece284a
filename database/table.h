// The answer of a query: named columns and rows of cells.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace kiln {

// A cell of a query's answer: NULL, integer, real, text. Blobs come as upper-case hex text.
using Cell = std::variant<std::monostate, int64_t, double, std::string>;
struct Table {
    std::vector<std::string> columns;
    std::vector<std::vector<Cell>> rows;
};

}  // namespace kiln
