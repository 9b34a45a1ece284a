#include "runtime/fallback/tile_product.h"

#include "runtime/cpu_features.h"
#include "runtime/fallback/tile_product_loops.h"

namespace kiln {

TileProduct tile_product([[maybe_unused]] uint64_t features) {
#if defined(__x86_64__)
    const auto has = [&](const char *halide) {
        for (const CpuFeature &feature : cpu_features) {
            if (strcmp(feature.name, halide) == 0) return (features & feature.bit) != 0;
        }
        return false;
    };
    if (has("avx512_skylake")) return tile_product_avx512();
    if (has("avx2") && has("fma")) return tile_product_avx2();
#endif
    return tile_product_of<6, 4>();  // 16 bytes: SSE2, NEON
}

}  // namespace kiln
