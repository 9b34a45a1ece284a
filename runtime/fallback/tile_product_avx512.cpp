#if defined(__x86_64__)
#include "runtime/fallback/tile_product_loops.h"

namespace kiln {

TileProduct tile_product_avx512() { return tile_product_of<8, 16>(); }

}  // namespace kiln
#endif
