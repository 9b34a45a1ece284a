// Files damaged at random: flipped bytes, cut off, overwritten. Either somebody says so, or the damage changed nothing.

#include <gtest/gtest.h>

#include <random>

#include "database/record_text.h"
#include "database/trial_store.h"
#include "tests/database/random_records.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

int rounds() {
    const char *text = std::getenv("KILN_TEST_DAMAGES");
    return text ? std::atoi(text) : 100;
}

class Damage {
public:
    explicit Damage(unsigned seed) : random_(seed) {}

    std::string damaged(std::string bytes) {
        switch (below(4)) {
            case 0:  // bits
                for (size_t i = 0, count = 1 + below(4); i < count; i++) {
                    bytes[below(bytes.size())] ^= static_cast<char>(1 << below(8));
                }
                return bytes;
            case 1:  // a file that was not written to its end
                return bytes.substr(0, below(bytes.size()));
            case 2: {  // a block of zeros
                const size_t at = below(bytes.size()) / 512 * 512;
                return bytes.replace(at, std::min<size_t>(512, bytes.size() - at), 512, '\0');
            }
            default: {  // a block of something else
                const size_t at = below(bytes.size()), length = std::min(1 + below(5000), bytes.size() - at);
                for (size_t i = 0; i < length; i++) bytes[at + i] = static_cast<char>(below(256));
                return bytes;
            }
        }
    }

private:
    size_t below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }
    std::mt19937 random_;
};

// The records that have a content id; a name's count has none, and is for people.
std::vector<Record> hashed_records(const std::string &text) {
    std::vector<Record> records = *parse_export(text, "test");
    std::erase_if(records, [](const Record &r) { return std::holds_alternative<WorkloadName>(r); });
    return records;
}

// What was said when everything was asked of the file, or nothing.
std::string complaint(const std::string &path, std::string *text) {
    Result<TrialStore> reader = TrialStore::open(path, OpenMode::read_only);
    if (!reader) return reader.error().message;
    std::string first;
    const auto note = [&first](const auto &result) {
        if (!result.ok() && first.empty()) first = result.error().message;
    };
    note(reader->verify());
    note(reader->report({ReportKind::best}));
    note(reader->report({ReportKind::trials}));
    note(reader->report({ReportKind::races}));
    const Result<std::string> exported = reader->export_text();
    note(exported);
    if (exported.ok()) *text = *exported;
    Result<TrialStore> writer = TrialStore::open(path, OpenMode::write);
    note(writer);
    if (writer.ok()) note(writer->append(sample_failure(), std::nullopt));
    return first;
}

TEST(Damage, IsSaidOrChangesNothing) {
    const ScratchFolder folder;
    const std::string path = folder / "damaged.db";
    std::string bytes, text;
    {
        TrialStore store = std::move(*TrialStore::open(path, OpenMode::create));
        ASSERT_TRUE(store.merge(RandomRecords(test_seed()).store(40)).ok());
        text = *store.export_text();
    }
    bytes = ScratchFolder::read(path);
    const std::vector<Record> records = hashed_records(text);
    ASSERT_GT(records.size(), 20u);
    int said = 0;
    for (int round = 0; round < rounds(); round++) {
        SCOPED_TRACE(test_seed() + static_cast<unsigned>(round));
        ScratchFolder::write(path, Damage(test_seed() + static_cast<unsigned>(round)).damaged(bytes));
        std::filesystem::remove(path + "-journal");
        std::string now;
        const std::string message = complaint(path, &now);
        said += !message.empty();
        if (message.empty()) {
            EXPECT_EQ(hashed_records(now), records);
        } else {
            EXPECT_NE(message.find("damaged.db"), std::string::npos) << message;
        }
    }
    EXPECT_GT(said, rounds() / 4);
    RecordProperty("said", said);
}

}  // namespace
}  // namespace kiln
