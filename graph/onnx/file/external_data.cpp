#include "graph/onnx/file/external_data.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "graph/onnx/file/wire.h"

namespace kiln::graph::onnx {

namespace {

namespace fs = std::filesystem;

Result<uint64_t> parse_size(std::string_view what, std::string_view text) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
        return bad_input("external data: " + std::string(what) + " " + shown(text) + " is no number of bytes");
    }
    return number;
}

bool is_inside(const fs::path &folder, const fs::path &file) {
    const auto [in_folder, in_file] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    return in_folder == folder.end() && in_file != file.end();
}

// The file without symbolic links, or why it may not be read.
Result<fs::path> resolve(const fs::path &folder, const std::string &location) {
    const fs::path relative(location);
    if (location.empty() || location.find('\0') != std::string::npos || relative.is_absolute()) {
        return bad_input("external data: " + shown(location) + " is no path relative to the model's folder");
    }
    std::error_code error;
    const fs::path root = fs::canonical(folder, error);
    const fs::path file = error ? fs::path() : fs::canonical(root / relative, error);
    if (error) {
        return bad_input("external data: " + shown(location) + " cannot be found in the model's folder (" +
                         error.message() + "): put it beside the model");
    }
    if (!is_inside(root, file)) {
        return bad_input("external data: " + shown(location) +
                         " leads out of the model's folder, so it is not read: put "
                         "the file itself into the folder");
    }
    return file;
}

}  // namespace

Result<FileBytes> ExternalFiles::open(const std::string &location) {
    if (folder_.empty()) {
        return bad_input("external data: " + shown(location) + " is in no folder: the model was not read from a file");
    }
    const auto known = files_.find(location);
    if (known != files_.end()) {
        return known->second;
    }
    const Result<fs::path> file = resolve(folder_, location);
    if (!file) {
        return file.error();
    }
    Result<FileBytes> mapped = map_file(*file, FinalLink::refuse);
    if (!mapped) {
        return within("external data: " + shown(location), mapped.error());
    }
    files_.emplace(location, *mapped);
    return mapped;
}

Result<ConstantData> ExternalFiles::read(const ExternalPlace &place, int64_t size) {
    const Result<uint64_t> offset = parse_size("offset", place.offset);
    if (!offset) {
        return offset.error();
    }
    const Result<uint64_t> length = place.length ? parse_size("length", *place.length) : uint64_t(size);
    if (!length) {
        return length.error();
    }
    if (*length != uint64_t(size)) {
        return bad_input("external data: " + std::to_string(*length) + " bytes, but its type and shape need " +
                         std::to_string(size));
    }
    const Result<FileBytes> file = open(place.location);
    if (!file) {
        return file.error();
    }
    const uint64_t available = file->bytes.size();
    if (*offset > available || *length > available - *offset) {
        return bad_input("external data: " + shown(place.location) + " has " + std::to_string(available) +
                         " bytes, and the data is said to be " + std::to_string(*length) + " bytes from byte " +
                         std::to_string(*offset) + " on: the file is cut off, or of another model");
    }
    return ConstantData(file->owner, file->bytes.subspan(*offset, *length));
}

}  // namespace kiln::graph::onnx
