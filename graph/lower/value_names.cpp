#include "graph/lower/value_names.h"

#include <set>
#include <string>

namespace kiln::graph {

void name_values(const std::vector<std::pair<std::string_view, ValueId>> &names, Graph *graph) {
    std::vector<bool> named(graph->values.size(), false);
    std::set<std::string> taken;
    for (const auto &[name, id] : names) {
        if (named[id]) continue;
        named[id] = true;
        graph->values[id].name = name;
        taken.insert(std::string(name));
    }
    for (size_t id = 0; id < named.size(); id++) {
        if (named[id]) continue;
        std::string &name = graph->values[id].name;
        const std::string stem = name;
        for (int number = 2; !taken.insert(name).second; number++) name = stem + "." + std::to_string(number);
    }
}

}  // namespace kiln::graph
