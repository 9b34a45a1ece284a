#include "tests/fuzz/mutation.h"

#include <algorithm>
#include <random>
#include <string_view>

namespace kiln {
namespace {

constexpr size_t longest = 8192;

// What readers take for a limit, an end or a beginning.
constexpr std::string_view tokens[] = {"0",
                                       "-1",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "18446744073709551616",
                                       "1e400",
                                       "NaN",
                                       "null",
                                       "true",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       "\"",
                                       "\\u0000",
                                       ":",
                                       ",",
                                       "/",
                                       "@",
                                       "\n",
                                       "\r\n",
                                       "\x1b[",
                                       "\xe2\x80\xae",
                                       "\xff",
                                       std::string_view("\0", 1),
                                       std::string_view("\xff\xff\xff\xff\xff\xff\xff\x7f", 8),
                                       std::string_view("\0\0\0\0\0\0\0\x80", 8)};

class Mutation {
public:
    Mutation(const std::vector<Bytes> &corpus, uint64_t seed, uint64_t index)
        : corpus_(corpus), random_(seed * 0x9E3779B97F4A7C15U + index) {}

    Bytes run() {
        Bytes bytes = corpus_[below(corpus_.size())];
        for (size_t n = 1 + below(6); n > 0; n--) change(&bytes);
        if (bytes.size() > longest) bytes.resize(longest);
        return bytes;
    }

private:
    size_t below(size_t limit) { return random_() % limit; }
    size_t place(const Bytes &bytes) { return below(bytes.size() + 1); }

    void insert(Bytes *bytes, const auto &from, size_t begin, size_t length) {
        const auto first = from.begin() + static_cast<std::ptrdiff_t>(begin);
        const Bytes part(first, first + static_cast<std::ptrdiff_t>(length));
        bytes->insert(bytes->begin() + static_cast<std::ptrdiff_t>(place(*bytes)), part.begin(), part.end());
    }

    // A part of this or another file, somewhere else.
    void splice(Bytes *bytes, const Bytes &from) {
        if (from.empty()) return;
        const size_t begin = below(from.size());
        insert(bytes, from, begin, 1 + below(std::min<size_t>(from.size() - begin, 64)));
    }

    void change(Bytes *bytes) {
        const std::string_view token = tokens[below(std::size(tokens))];
        const size_t at = bytes->empty() ? 0 : below(bytes->size());
        switch (bytes->empty() ? 0 : below(7)) {
            case 0:
                return insert(bytes, token, 0, token.size());
            case 1:
                (*bytes)[at] ^= uint8_t(1) << below(8);
                return;
            case 2:
                (*bytes)[at] = static_cast<uint8_t>(random_());
                return;
            case 3: {
                const size_t length = 1 + below(std::min<size_t>(bytes->size() - at, 64));
                const auto first = bytes->begin() + static_cast<std::ptrdiff_t>(at);
                bytes->erase(first, first + static_cast<std::ptrdiff_t>(length));
                return;
            }
            case 4:
                return splice(bytes, Bytes(*bytes));
            case 5:
                return splice(bytes, corpus_[below(corpus_.size())]);
            default:
                for (size_t i = 0; i < token.size() && at + i < bytes->size(); i++)
                    (*bytes)[at + i] = uint8_t(token[i]);
        }
    }

    const std::vector<Bytes> &corpus_;
    std::mt19937_64 random_;
};

}  // namespace

Bytes mutated(const std::vector<Bytes> &corpus, uint64_t seed, uint64_t index) {
    return Mutation(corpus, seed, index).run();
}

}  // namespace kiln
