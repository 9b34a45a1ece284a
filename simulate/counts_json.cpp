#include "simulate/counts_json.h"

#include <nlohmann/json.hpp>

namespace kiln {

nlohmann::ordered_json json_of(const Counts &counts) {
    return {{"cycles", counts.cycles}, {"instructions", counts.instructions}, {"fetch_misses", counts.fetch_misses},
            {"loads", counts.loads},   {"load_misses", counts.load_misses},   {"stores", counts.stores}};
}

}  // namespace kiln
