#if defined(__x86_64__)
#include "runtime/fallback/tile_product_loops.h"

namespace kiln {

TileProduct tile_product_avx2() { return tile_product_of<6, 8>(); }

}  // namespace kiln
#endif
