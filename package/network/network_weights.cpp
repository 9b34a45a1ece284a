#include "package/network/network_weights.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "digest/content_digest.h"
#include "package/described_network.h"
#include "package/output/text_files.h"
#include "runtime/network/weights_file.h"

namespace kiln {
namespace {

int64_t whole_lines(int64_t bytes) { return (bytes + weights_alignment - 1) / weights_alignment * weights_alignment; }

WeightsHeader header_of(const WeightsSections &sections, const std::string &plan) {
    WeightsHeader header = {};
    std::memcpy(header.magic, weights_magic, sizeof header.magic);
    header.version = weights_version;
    header.section_count = uint32_t(sections.data().size());
    header.file_bytes = uint64_t(sections.file_bytes());
    const std::array<uint8_t, 16> bytes = plan_bytes(plan);
    std::ranges::copy(bytes, header.plan);
    return header;
}

// A file, and the digest of what it has been given so far.
class DigestedFile {
public:
    explicit DigestedFile(const std::string &path) : file_(path, std::ios::binary) {}

    void write(std::span<const std::byte> bytes) {
        file_.write(reinterpret_cast<const char *>(bytes.data()), std::streamsize(bytes.size()));
        digest_.add(bytes);
        at_ += int64_t(bytes.size());
    }
    void fill_to(int64_t offset) {
        const std::vector<std::byte> zeros(size_t(offset - at_));
        write(zeros);
    }
    bool close() {
        file_.close();
        return bool(file_);
    }
    std::string digest() const { return digest_.text(); }

private:
    std::ofstream file_;
    ContentDigest digest_;
    int64_t at_ = 0;
};

}  // namespace

size_t WeightsSections::add(graph::ConstantData data) {
    std::string digest = digest_of(data.bytes());
    const auto [found, is_new] = numbers_.try_emplace({digest, data.bytes().size()}, data_.size());
    if (is_new) {
        data_.push_back(std::move(data));
        digests_.push_back(std::move(digest));
    }
    return found->second;
}

std::vector<StoredSection> WeightsSections::layout() const {
    std::vector<StoredSection> sections;
    int64_t next = whole_lines(int64_t(sizeof(WeightsHeader) + data_.size() * sizeof(WeightsSection)));
    for (size_t i = 0; i < data_.size(); i++) {
        const auto bytes = int64_t(data_[i].bytes().size());
        sections.push_back({next, bytes, digests_[i]});
        next = whole_lines(next + bytes);
    }
    return sections;
}

int64_t WeightsSections::file_bytes() const {
    const std::vector<StoredSection> sections = layout();
    if (sections.empty()) return sizeof(WeightsHeader);
    return sections.back().offset + sections.back().bytes;
}

Result<std::string> write_weights(const std::string &path, const WeightsSections &sections, const std::string &plan) {
    const WeightsHeader header = header_of(sections, plan);
    const std::vector<StoredSection> layout = sections.layout();
    std::vector<WeightsSection> table;
    for (const StoredSection &section : layout) table.push_back({uint64_t(section.offset), uint64_t(section.bytes)});
    DigestedFile file(path);
    file.write(std::as_bytes(std::span(&header, 1)));
    file.write(std::as_bytes(std::span(table)));
    for (size_t i = 0; i < layout.size(); i++) {
        file.fill_to(layout[i].offset);
        file.write(sections.data()[i].bytes());
    }
    if (!file.close()) return cannot("write the weights", path, strerror(errno));
    return file.digest();
}

}  // namespace kiln
