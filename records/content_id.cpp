#include "records/content_id.h"

#include "digest/content_digest.h"
#include "records/content_text.h"

namespace kiln {

std::string content_id(const Measurement &measurement) {
    return digest_of(content_text(measurement_content, StoredMeasurement{"", measurement}));
}

std::string content_id(const Trial &trial, std::string_view measurement_id) {
    return digest_of(content_text(trial_content, StoredTrial{trial, std::string(measurement_id)}));
}

std::string content_id(const Race &race) { return digest_of(content_text(race_content, race)); }

std::string digest_of_ids(const std::vector<std::string> &ids) {
    std::string text = "kiln database 1\n";
    for (const std::string &id : ids) text += id + '\n';
    return digest_of(text);
}

}  // namespace kiln
