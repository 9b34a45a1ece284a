// Digests of contents: XXH3 with 128 bits, as 32 hex digits. Content ids, hashes of objects and of weights are such.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kiln {

class ContentDigest {
public:
    ContentDigest();
    ~ContentDigest();

    void add(std::span<const std::byte> bytes);
    void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
    void add_number(uint64_t value) { add(std::as_bytes(std::span(&value, 1))); }

    // With its length first, so that two texts in a row are not taken for two others.
    void add_part(std::string_view text) {
        add_number(text.size());
        add(text);
    }

    std::string text() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

std::string digest_of(std::span<const std::byte> bytes);
std::string digest_of(std::string_view text);

}  // namespace kiln
