#include "check/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <new>
#include <optional>
#include <utility>

#include "json/file_text.h"

namespace kiln {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t alignment = 64;  // of the data in files that are written
constexpr int64_t most_file_bytes = int64_t(4) << 30;
constexpr size_t most_header_bytes = 65535;  // of version 1; more is no list of extents
constexpr size_t most_dimensions = 32;       // of NumPy
constexpr size_t longest_text = 16;          // of a key, or of the name of an element type

struct ElementType {
    std::string_view descr;
    int64_t bytes;
};
constexpr ElementType element_types[] = {{"<f4", 4}, {"<f2", 2}, {"<u2", 2}, {"|i1", 1}, {"<i4", 4}, {"<i8", 8},
                                         {"<f8", 8}, {"|u1", 1}, {"<i2", 2}, {"<u4", 4}, {"<u8", 8}, {"|b1", 1}};

const ElementType *find_type(std::string_view descr) {
    for (const ElementType &type : element_types) {
        if (type.descr == descr) return &type;
    }
    return nullptr;
}

// The header is a Python dictionary literal with exactly three keys:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
public:
    explicit HeaderParser(std::string_view text) : text_(text) {}

    struct Header {
        std::optional<std::string> descr;
        std::optional<bool> fortran_order;
        std::optional<std::vector<int64_t>> shape;
    };

    // Answers nothing if the text is not such a literal.
    std::optional<Header> parse() {
        Header header;
        if (!take('{')) return {};
        while (!take('}')) {
            const auto key = string();
            if (!key || !take(':') || !value(*key, header)) return {};
            if (!take(',') && !peek('}')) return {};
        }
        skip_blanks();
        if (!text_.empty() || !header.descr || !header.fortran_order || !header.shape) return {};
        return header;
    }

private:
    void skip_blanks() {
        const size_t first = text_.find_first_not_of(" \t\n");
        text_.remove_prefix(std::min(first, text_.size()));
    }

    bool peek(char c) {
        skip_blanks();
        return !text_.empty() && text_[0] == c;
    }

    bool take(char c) {
        if (!peek(c)) return false;
        text_.remove_prefix(1);
        return true;
    }

    bool word(std::string_view expected) {
        skip_blanks();
        if (!text_.starts_with(expected)) return false;
        text_.remove_prefix(expected.size());
        return true;
    }

    std::optional<std::string> string() {
        const char quote = peek('"') ? '"' : '\'';
        if (!take(quote)) return {};
        const size_t end = text_.find(quote);
        if (end == std::string_view::npos || end > longest_text) return {};
        std::string result(text_.substr(0, end));
        text_.remove_prefix(end + 1);
        return result;
    }

    std::optional<std::vector<int64_t>> tuple() {
        std::vector<int64_t> shape;
        if (!take('(')) return {};
        while (!take(')')) {
            skip_blanks();
            int64_t extent = 0;
            const auto [end, problem] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
            if (problem != std::errc() || extent < 0) return {};
            text_.remove_prefix(end - text_.data());
            shape.push_back(extent);
            if (shape.size() > most_dimensions) return {};
            if (!take(',') && !peek(')')) return {};
        }
        return shape;
    }

    bool value(const std::string &key, Header &header) {
        if (key == "descr") return (header.descr = string()).has_value();
        if (key == "shape") return (header.shape = tuple()).has_value();
        if (key != "fortran_order") return false;
        if (word("False")) header.fortran_order = false;
        if (word("True")) header.fortran_order = true;
        return header.fortran_order.has_value();
    }

    std::string_view text_;
};

uint32_t little_endian(std::string_view bytes) {
    uint32_t value = 0;
    for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
}

// Answers nothing if 64 bits do not hold the number of bytes. An extent of 0 makes any shape empty.
std::optional<int64_t> byte_count(const std::vector<int64_t> &shape, int64_t element_bytes) {
    for (int64_t extent : shape) {
        if (extent == 0) return 0;
    }
    int64_t bytes = element_bytes;
    for (int64_t extent : shape) {
        if (__builtin_mul_overflow(bytes, extent, &bytes)) return {};
    }
    return bytes;
}

Status write_bytes(const std::string &path, const std::string &header, const std::vector<std::byte> &data) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << header;
    file.write(reinterpret_cast<const char *>(data.data()), static_cast<std::streamsize>(data.size()));
    file.close();
    if (!file) return environment_error(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
    return {};
}

}  // namespace

Result<NpyArray> parse_npy(std::string_view bytes, const std::string &source) {
    const auto refuse = [&](const std::string &why) { return bad_input(source + ": " + why); };
    if (bytes.size() < 10 || !bytes.starts_with(magic)) return refuse("not a .npy file");
    const int version = static_cast<unsigned char>(bytes[6]);
    if (version != 1 && version != 2) return refuse(fmt::format(".npy version {}; 1 and 2 are known", version));
    const size_t length_bytes = version == 1 ? 2 : 4, header_at = 8 + length_bytes;
    if (bytes.size() < header_at) return refuse("truncated in its header");
    const size_t header_bytes = little_endian(bytes.substr(8, length_bytes));
    if (bytes.size() - header_at < header_bytes) return refuse("truncated in its header");

    if (header_bytes > most_header_bytes) return refuse("a header that is too long");

    const auto header = HeaderParser(bytes.substr(header_at, header_bytes)).parse();
    if (!header) return refuse("malformed .npy header");
    const ElementType *type = find_type(*header->descr);
    if (!type) {
        return refuse(fmt::format("element type `{}`; <f4, <f2, <f8, whole numbers of 8 to 64 bits and |b1 are known",
                                  *header->descr));
    }
    if (*header->fortran_order) return refuse("in Fortran order; save it in C order");
    const auto data_bytes = byte_count(*header->shape, type->bytes);
    if (!data_bytes) return refuse("a shape too large for 64 bits");
    const std::string_view data = bytes.substr(header_at + header_bytes);
    if (std::cmp_not_equal(data.size(), *data_bytes)) {
        return refuse(fmt::format("{} bytes of data, but {} of shape ({}) are {} bytes{}", data.size(), type->descr,
                                  fmt::join(*header->shape, ", "), *data_bytes,
                                  std::cmp_less(data.size(), *data_bytes) ? "; truncated?" : ""));
    }
    NpyArray array{*header->descr, *header->shape, std::vector<std::byte>(data.size())};
    if (!data.empty()) std::memcpy(array.data.data(), data.data(), data.size());
    return array;
}

std::string npy_header(std::string_view descr, const std::vector<int64_t> &shape) {
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                     fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    const size_t prefix = magic.size() + 4;
    header.append(alignment - 1 - (prefix + header.size()) % alignment, ' ');
    header += '\n';
    std::string bytes(magic);
    bytes += {'\x01', '\x00', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
    return bytes + header;
}

std::string npy_bytes(const NpyArray &array) {
    std::string bytes = npy_header(array.descr, array.shape);
    bytes.append(reinterpret_cast<const char *>(array.data.data()), array.data.size());
    return bytes;
}

Result<NpyArray> read_npy(const std::string &path) {
    const Result<std::string> bytes = read_file_text(path, most_file_bytes);
    if (!bytes) return bytes.error();
    if (bytes->empty()) return bad_input(path + ": is empty");
    try {
        return parse_npy(*bytes, path);
    } catch (const std::bad_alloc &) {
        return bad_input(path + ": is too large for the memory of this machine");
    }
}

Status write_npy(const std::string &path, const NpyArray &array) {
    return write_bytes(path, npy_header(array.descr, array.shape), array.data);
}

Status write_elements(const std::string &path, const NpyArray &array) { return write_bytes(path, "", array.data); }

std::string_view npy_descr(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return "<f4";
        case DType::f16:
            return "<f2";
        case DType::bf16:
            return "<u2";
        case DType::i8:
            return "|i1";
        case DType::i32:
            return "<i4";
        case DType::u8:
            return "|u1";
    }
    return "?";
}

std::string_view npy_descr(scalar::Element type) {
    switch (type) {
        case scalar::Element::f32:
            return "<f4";
        case scalar::Element::f64:
            return "<f8";
        case scalar::Element::f16:
            return "<f2";
        case scalar::Element::bf16:
        case scalar::Element::u16:
            return "<u2";
        case scalar::Element::i8:
            return "|i1";
        case scalar::Element::u8:
            return "|u1";
        case scalar::Element::i16:
            return "<i2";
        case scalar::Element::i32:
            return "<i4";
        case scalar::Element::u32:
            return "<u4";
        case scalar::Element::i64:
            return "<i8";
        case scalar::Element::u64:
            return "<u8";
        case scalar::Element::boolean:
            return "|b1";
    }
    return "?";
}

Result<Tensor> to_tensor(NpyArray array, DType dtype, const std::string &source) {
    if (array.descr != npy_descr(dtype)) {
        return bad_input(fmt::format("{}: element type `{}`; {} is stored as `{}`", source, array.descr, name(dtype),
                                     npy_descr(dtype)));
    }
    return Tensor{dtype, std::move(array.shape), std::move(array.data)};
}

NpyArray to_npy(const Tensor &tensor) { return {std::string(npy_descr(tensor.dtype)), tensor.shape, tensor.data}; }

}  // namespace kiln
