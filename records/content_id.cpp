#include "records/content_id.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "records/content_text.h"

namespace kiln {
namespace {

std::string hash_of(const std::string &text) {
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

std::string content_id(const Measurement &measurement) {
    return hash_of(content_text(measurement_content, StoredMeasurement{"", measurement}));
}

std::string content_id(const Trial &trial, std::string_view measurement_id) {
    return hash_of(content_text(trial_content, StoredTrial{trial, std::string(measurement_id)}));
}

std::string content_id(const Race &race) { return hash_of(content_text(race_content, race)); }

std::string digest_of_ids(const std::vector<std::string> &ids) {
    std::string text = "kiln database 1\n";
    for (const std::string &id : ids) text += id + '\n';
    return hash_of(text);
}

}  // namespace kiln
