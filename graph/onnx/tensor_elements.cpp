#include "graph/onnx/tensor_elements.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "graph/onnx/file/wire.h"

namespace kiln::graph::onnx {

namespace {

constexpr uint32_t float_data = 4, int32_data = 5, int64_data = 7, double_data = 10, uint64_data = 11;

uint32_t field_of(Element type) {
    switch (type) {
        case Element::f32:
            return float_data;
        case Element::f64:
            return double_data;
        case Element::i64:
            return int64_data;
        case Element::u32:
        case Element::u64:
            return uint64_data;
        default:
            return int32_data;
    }
}

// What may stand in int32_data for a type; the bits of 16-bit floats as an unsigned number, by some writers a signed one.
std::pair<int64_t, int64_t> bounds(Element type) {
    switch (type) {
        case Element::boolean:
            return {0, 1};
        case Element::i8:
            return {-128, 127};
        case Element::u8:
            return {0, 255};
        case Element::i16:
            return {-32768, 32767};
        case Element::u16:
            return {0, 65535};
        case Element::f16:
        case Element::bf16:
            return {-32768, 65535};
        case Element::u32:
            return {0, std::numeric_limits<uint32_t>::max()};
        default:
            return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    }
}

// Collects elements as they lie in memory.
class Elements {
public:
    Elements(Element type, int64_t count) : bounds_(bounds(type)), element_bytes_(size_of(type)), count_(count) {}

    // A view as long as one field holds everything.
    Status append(std::string_view dense) {
        if (copied_.empty() && view_.empty()) {
            view_ = dense;
            return {};
        }
        own();
        return append_bytes(dense.data(), dense.size());
    }
    Status append(int64_t number) {
        if (number < bounds_.first || number > bounds_.second) {
            return bad_input("has the element " + std::to_string(number) + ", which its type cannot hold");
        }
        return append_bytes(reinterpret_cast<const char *>(&number), element_bytes_);  // little-endian
    }
    Result<ConstantData> finish(const std::shared_ptr<const void> &owner) && {
        const size_t size = view_.empty() ? copied_.size() : view_.size();
        if (size != size_t(count_) * element_bytes_) {
            return bad_input("has " + std::to_string(size / element_bytes_) + " elements, but its shape needs " +
                             std::to_string(count_));
        }
        if (view_.empty()) {
            return ConstantData(std::move(copied_));
        }
        return ConstantData(owner, std::as_bytes(std::span(view_)));
    }

private:
    void own() {
        const auto *begin = reinterpret_cast<const std::byte *>(view_.data());
        copied_.insert(copied_.end(), begin, begin + view_.size());
        view_ = {};
    }
    Status append_bytes(const char *data, size_t size) {
        const auto *begin = reinterpret_cast<const std::byte *>(data);
        copied_.insert(copied_.end(), begin, begin + size);
        if (copied_.size() > size_t(count_) * element_bytes_) {
            return bad_input("has more elements than the " + std::to_string(count_) + " of its shape");
        }
        return {};
    }

    std::pair<int64_t, int64_t> bounds_;
    size_t element_bytes_;
    int64_t count_;
    std::string_view view_;
    std::vector<std::byte> copied_;
};

template<typename Numbers>
Status append_all(const Numbers &numbers, Elements &elements) {
    for (const auto number : numbers) {
        if (Status status = elements.append(int64_t(number)); !status) {
            return status;
        }
    }
    return {};
}

}  // namespace

Result<ConstantData> typed_elements(std::string_view message, Element type, int64_t count,
                                    const std::shared_ptr<const void> &owner) {
    const uint32_t number = field_of(type);
    Elements elements(type, count);
    const Status status = each_field(message, [&](Field &field) -> Status {
        if (field.tag() != number) {
            field.skip();
            return {};
        }
        switch (field.tag_and_type()) {
            case bytes(float_data):
            case bytes(double_data):
                return elements.append(take_bytes(field));
            case fixed32(float_data):
            case fixed64(double_data): {
                const char *end = field.data().data();
                field.skip();
                return elements.append(std::string_view(end, size_of(type)));
            }
            case bytes(int32_data):
                return append_all(field.get_packed_int32(), elements);
            case bytes(int64_data):
                return append_all(field.get_packed_int64(), elements);
            case bytes(uint64_data):
                return append_all(field.get_packed_uint64(), elements);
            case varint(int32_data):
                return elements.append(int64_t{field.get_int32()});
            case varint(int64_data):
                return elements.append(field.get_int64());
            case varint(uint64_data):
                return elements.append(int64_t(field.get_uint64()));
            default:
                field.skip();
                return {};
        }
    });
    if (!status) {
        return status.error();
    }
    return std::move(elements).finish(owner);
}

}  // namespace kiln::graph::onnx
