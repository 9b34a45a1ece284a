// The bytes of one fuzz input taken apart, and how a target says that something is wrong.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace kiln {

// Ends the process, with a line that says what is wrong: a finding, as a crash is.
#define KILN_FUZZ_EXPECT(condition)                                                       \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            std::fprintf(stderr, "%s:%d: expected " #condition "\n", __FILE__, __LINE__); \
            std::abort();                                                                 \
        }                                                                                 \
    } while (false)

class FuzzInput {
public:
    FuzzInput(const uint8_t *data, size_t size) : data_(data), size_(size) {}

    bool empty() const { return size_ == 0; }

    // Zeros where the input has ended.
    template<typename T>
    T take() {
        T value{};
        const size_t bytes = size_ < sizeof value ? size_ : sizeof value;
        if (bytes > 0) std::memcpy(&value, data_, bytes);
        data_ += bytes, size_ -= bytes;
        return value;
    }

    std::string rest() const { return {reinterpret_cast<const char *>(data_), size_}; }

private:
    const uint8_t *data_;
    size_t size_;
};

}  // namespace kiln
