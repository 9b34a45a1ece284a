// Exports, as files and as texts in memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>

#include "database/record_text.h"
#include "json/file_text.h"

namespace kiln {
namespace {

struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

// The lines of a file from its beginning, without more than one of them in memory.
class LineReader {
public:
    explicit LineReader(std::FILE *file) : file_(file) { std::rewind(file); }

    // False at the end of the file. Ends within a line that is longer than longest_line.
    bool next(std::string *line) {
        line->clear();
        while (line->size() <= longest_line) {
            if (at_ == end_) {
                at_ = 0;
                end_ = std::fread(buffer_.data(), 1, buffer_.size(), file_);
                if (end_ == 0) return !line->empty();
            }
            const char *begin = buffer_.data() + at_;
            const auto *newline = static_cast<const char *>(std::memchr(begin, '\n', end_ - at_));
            line->append(begin, newline ? newline : buffer_.data() + end_);
            at_ = newline ? static_cast<size_t>(newline - buffer_.data()) + 1 : end_;
            if (newline) return true;
        }
        return true;
    }
    bool failed() const { return std::ferror(file_); }

private:
    std::FILE *file_;
    std::array<char, 1 << 16> buffer_;
    size_t at_ = 0, end_ = 0;
};

using Visit = std::function<Status(const Record &)>;

// One line of an export, without its end.
class Lines {
public:
    Lines(std::string file, const Visit &visit) : file_(std::move(file)), visit_(visit) {}

    Status take(std::string_view line) {
        ++number_;
        if (line.ends_with('\r')) line.remove_suffix(1);  // git may have changed the ends of lines
        if (line == export_head) return {};               // also again: exports one after the other
        if (number_ == 1) return is_newer(line) ? newer(line) : no_head();
        if (line.empty()) return {};
        if (line.size() > longest_line) {
            return error(bad_input(fmt::format("is longer than {} MiB, no line of an export is", longest_line >> 20)));
        }
        const Result<Record> record = parse_record(line);
        if (!record) return error(record.error());
        if (Status status = check_content(*record); !status) return error(status.error());
        const Status status = visit_(*record);
        return status ? status : error(status.error());
    }

    // {"format":"database/N"} of an N that is not known here.
    static bool is_newer(std::string_view line) {
        constexpr std::string_view begin = R"({"format":"database/)", end = R"("})";
        if (!line.starts_with(begin) || !line.ends_with(end) || line.size() <= begin.size() + end.size()) return false;
        const std::string_view version = line.substr(begin.size(), line.size() - begin.size() - end.size());
        return version.size() < 10 && std::ranges::all_of(version, [](char c) { return '0' <= c && c <= '9'; });
    }

    Error newer(std::string_view line) const {
        return bad_input(
            fmt::format("{}: begins with {}, and this kiln reads {}; a newer kiln wrote it", file_, line, export_head));
    }

    Error no_head() const {
        return bad_input(
            fmt::format("{}: does not begin with {}; write such a file with `kiln db export`", file_, export_head));
    }

    bool is_empty() const { return number_ == 0; }

    Error error(const Error &what) const {
        return {what.code, fmt::format("{}: line {}: {}; nothing was imported", file_, number_, what.message)};
    }

private:
    std::string file_;
    const Visit &visit_;
    size_t number_ = 0;
};

Status read_lines(const std::string &path, std::FILE *file, const Visit &visit) {
    LineReader reader(file);
    Lines lines(path, visit);
    try {
        std::string line;
        while (reader.next(&line)) {
            if (Status status = lines.take(line); !status) return status;
        }
        if (reader.failed()) return environment_error(path + ": cannot be read: " + std::strerror(errno));
        return lines.is_empty() ? Status(lines.no_head()) : Status();
    } catch (const std::bad_alloc &) {
        return lines.error(environment_error("not enough memory"));
    }
}

// A copy without a name of what can be read only once.
Result<File> copy_of(const std::string &path, std::FILE *file) {
    File copy(std::tmpfile());
    if (!copy) return environment_error(path + ": no temporary file can be made for it: " + std::strerror(errno));
    std::array<char, 1 << 16> buffer;
    for (size_t total = 0, size; (size = std::fread(buffer.data(), 1, buffer.size(), file)) > 0; total += size) {
        const std::string_view begin(buffer.data(), std::min(size, export_head.size()));
        if (total == 0 && !export_head.starts_with(begin)) break;  // it may never end
        if (std::fwrite(buffer.data(), 1, size, copy.get()) != size) {
            return environment_error(path + ": cannot be copied to a temporary file: " + std::strerror(errno));
        }
    }
    if (std::ferror(file)) return environment_error(path + ": cannot be read: " + std::strerror(errno));
    return copy;
}

}  // namespace

Result<RecordSource> read_export(const std::string &path) {
    std::error_code ignored;
    const auto type = std::filesystem::status(path, ignored).type();
    if (type == std::filesystem::file_type::directory) {
        return bad_input(path + ": is a folder; needs a file that `kiln db export` wrote");
    }
    File file(std::fopen(path.c_str(), "rbe"));
    if (!file) return file_error(path, "opened", errno);
    if (type != std::filesystem::file_type::regular) {
        Result<File> copy = copy_of(path, file.get());
        if (!copy) return copy.error();
        file = std::move(*copy);
    }
    const std::shared_ptr<std::FILE> shared = std::move(file);
    return RecordSource{path, [path, shared](const Visit &visit) { return read_lines(path, shared.get(), visit); }};
}

Result<std::vector<Record>> parse_export(std::string_view text, const std::string &file) {
    std::vector<Record> records;
    const Visit keep = [&](const Record &record) {
        records.push_back(record);
        return Status();
    };
    Lines lines(file, keep);
    while (!text.empty()) {
        const size_t end = text.find('\n');
        if (Status status = lines.take(text.substr(0, end)); !status) return status.error();
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    if (lines.is_empty()) return lines.no_head();
    std::ranges::stable_sort(records, {}, &Record::index);
    return records;
}

}  // namespace kiln
