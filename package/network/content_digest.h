// Digests of bytes: XXH3 with 128 bits, as 32 hex digits.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace kiln {

class ContentDigest {
public:
    ContentDigest();
    ~ContentDigest();
    void add(std::span<const std::byte> bytes);
    void add(const std::string &text) { add(std::as_bytes(std::span(text))); }
    std::string text() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

std::string digest_of(std::span<const std::byte> bytes);

}  // namespace kiln
