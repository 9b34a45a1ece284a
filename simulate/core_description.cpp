#include "simulate/core_description.h"

#include <fmt/format.h>

namespace kiln {

std::string key(const CoreDescription &core) {
    const auto cache = [](const CacheDescription &c) {
        return fmt::format("{}-{}-{}", c.bytes, c.line_bytes, c.refill_cycles);
    };
    return fmt::format("rv32im-{}/icache:{}/dcache:{}/latency:{}-{}-{}-{}/jump:{}-{}-{}/store:{}-{}", core.name,
                       cache(core.instructions), cache(core.data), core.load_cycles, core.multiply_cycles,
                       core.divide_cycles, core.shift_cycles, core.jump_cycles, core.indirect_jump_cycles,
                       core.mispredicted_cycles, core.store_cycles, core.pending_stores);
}

}  // namespace kiln
