#include "digest/content_digest.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

namespace kiln {

struct ContentDigest::State {
    XXH3_state_t hash;
};

ContentDigest::ContentDigest() : state_(new State) { XXH3_128bits_reset(&state_->hash); }

ContentDigest::~ContentDigest() = default;

void ContentDigest::add(std::span<const std::byte> bytes) {
    XXH3_128bits_update(&state_->hash, bytes.data(), bytes.size());
}

std::string ContentDigest::text() const {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state_->hash));
    return fmt::format("{:02x}", fmt::join(canonical.digest, ""));
}

std::string digest_of(std::span<const std::byte> bytes) {
    ContentDigest digest;
    digest.add(bytes);
    return digest.text();
}

std::string digest_of(std::string_view text) { return digest_of(std::as_bytes(std::span(text))); }

}  // namespace kiln
