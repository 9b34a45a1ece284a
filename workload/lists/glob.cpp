#include "workload/lists/glob.h"

#include <array>
#include <cstdint>
#include <vector>

namespace kiln {
namespace {

constexpr size_t word_bits = 64;

// A set of places in a pattern without its stars: before its first character, ..., behind its last.
using Places = std::vector<uint64_t>;

void add(Places &places, size_t place) { places[place / word_bits] |= uint64_t{1} << place % word_bits; }
bool has(const Places &places, size_t place) { return places[place / word_bits] >> place % word_bits & 1; }

struct Pattern {
    size_t end = 0;                // the place behind the last character
    Places stays;                  // where a star takes any character
    std::array<Places, 256> goes;  // by character: where it leads one place on
};

Pattern parse(std::string_view text) {
    const Places none(text.size() / word_bits + 1);
    Pattern pattern{.stays = none, .goes = {}};
    pattern.goes.fill(none);
    for (const char c : text) {
        if (c == '*') {
            add(pattern.stays, pattern.end);
        } else if (c == '?') {
            for (Places &places : pattern.goes) add(places, pattern.end);
            ++pattern.end;
        } else {
            add(pattern.goes[static_cast<unsigned char>(c)], pattern.end++);
        }
    }
    return pattern;
}

}  // namespace

// All places that the text so far can lead to, 64 of them at once: no place is ever tried again.
bool glob_match(std::string_view pattern, std::string_view text) {
    const Pattern parsed = parse(pattern);
    Places here(parsed.stays.size());
    add(here, 0);
    for (const char c : text) {
        const Places &goes = parsed.goes[static_cast<unsigned char>(c)];
        uint64_t carried = 0;
        for (size_t i = 0; i < here.size(); ++i) {
            const uint64_t gone = here[i] & goes[i];
            here[i] = (here[i] & parsed.stays[i]) | gone << 1 | carried;
            carried = gone >> (word_bits - 1);
        }
    }
    return has(here, parsed.end);
}

}  // namespace kiln
