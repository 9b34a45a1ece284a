// What was faster in races: choices for tiles that no model of cycles makes, each with the CPUs that it was measured on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedules/spaces/cpu_tile_rules.h"

namespace kiln {

// Largest value up to the wanted one; the smallest where there is none.
int64_t nearest(const std::vector<int64_t> &values, double wanted);
// The largest one up to the wanted one that divides a length; 1 where there is none.
int64_t nearest_divisor(const std::vector<int64_t> &values, int64_t length, int64_t wanted);

// Whether a 1x1 layer reads an image that L2 does not have for one vector of outputs alone. Each pixel of a tile is a stream then, and
// prefetchers follow few. By races of nine layers on a Zen 5, 14 pixels without fetches of their own take 0.79 to 0.99 of the time of 28
// with them.
bool streams_to_one_vector(const TileFacts &f);

// Whether tiles of a 1x1 layer are short where each fetches what the next one reads: a processor begins the next tile before the last
// one ends then. Images that leave L2 no room for their results are fetched, too.
bool may_have_short_tiles(const TileFacts &f);

// Pixels of a tile: those of some 16 sums where it fetches and may be short, else as many as it has. By races on an Emerald
// Rapids with AVX-512 (docs/measurements/direct.md); other targets are not measured.
int64_t pixels_of_short_tile(const TileFacts &f, const std::vector<int64_t> &values, const CpuTileKnobs &k);

// Whether stores take most of the time: sums of few products, more results than the caches near a core keep. All panels of a tile
// follow each other then, so that results are written in the order of memory. Threads share one row in blocks of several tiles, which
// have no such order. By races on a Zen 3 with AVX2, and on an Emerald Rapids with AVX-512; other targets are not measured.
bool stores_decide(const TileFacts &f, int64_t vectors);

// The most tiles that pass before the next panel, of pixels that are one stretch of memory, where panels are near. Results are then
// written, and what is added to them is read, almost in the order of memory. By races on an Emerald Rapids with AVX-512; other targets
// are not measured.
std::optional<int64_t> few_tiles_a_panel(const TileFacts &f, int64_t vectors);

// How many panels of a depthwise layer walk over the image together; nothing: all.
std::optional<int64_t> depthwise_panels_together(const TileFacts &f, const std::vector<int64_t> &values,
                                                 const CpuTileKnobs &k);

// Whether all tiles use one panel of a group before the next comes, since L2 does not keep the weights of all. By races of eight layers,
// which take 0.88 to 0.99 of the time.
bool groups_pass_once(const TileFacts &f);

// Depthwise tiles wait for memory only: each asks for many lines, most of which are there. Where several panels read a block, all
// but the first find it in the cache. Pixels that strides keep apart share sets of the cache, so that what is fetched drives out
// what is read.
bool is_fetched_late(const TileFacts &f, const CpuTileKnobs &k);

// In a network, activations that are larger than half of L2 are not there any more when the next layer needs them. By races of 19 layers
// of 1x1 on a Zen 2, fetches of the next block of the input and of the result take 0.59 to 1.03 of the time where activations come from
// memory, and 0.96 to 1.01 where they are in L3. Other targets are not measured: there, too, a fetch is one instruction beside dozens.
bool fetches_blocks(const TileFacts &f, const CpuTileKnobs &k);

// A store needs its line first, and few stores can wait at a time: sums of few products end before the lines of the last ones have
// come. Few panels write neighbouring lines, which the processor fetches by itself. By races on a Zen 3 with AVX2; other targets are
// not measured. Layers of one stretch of pixels and several panels fetch every result that has left L2 (fetches_blocks), depthwise ones
// what L3 does not keep (DepthwiseFetches).
int64_t default_fetch_result(const TileFacts &f, const CpuTileDomains &domains, const CpuTileKnobs &k);

}  // namespace kiln
