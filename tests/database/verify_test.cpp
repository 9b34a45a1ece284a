#include "database/verify.h"

#include <gtest/gtest.h>

#include <functional>

#include "database/trial_store.h"
#include "tests/database/sample_records.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

TEST(Verify, FindsFlippedBytes) {
    const ScratchFolder folder;
    const std::string path = folder / "v.db";
    {
        Result<TrialStore> store = TrialStore::open(path, OpenMode::create);
        const std::string one = *store->append(sample_trial(), sample_measurement());
        Trial again = sample_trial();
        again.origin = "random";
        const std::string other = *store->append(again, sample_measurement());
        ASSERT_TRUE(store->append(sample_race({one, other})).ok());
        ASSERT_TRUE(store->verify().ok());
    }
    const std::string good = ScratchFolder::read(path);
    const struct {
        const char *written, *flipped, *message;
    } cases[] = {
        {"pixels:14", "pixels:15", "was changed"},     // a trial's own text
        {"ld 2.40", "ld 2.41", "missing from index"},  // a text that it refers to
        {"[1500,", "[1400,", "was changed"},           // a measurement
        {"{\"load\":0.5}", "{\"load\":0.6}", "was changed"},
        {"[112.5,", "[112.6,", "race "},  // a race's entry
        {"2026-08-20T00", "2026-08-20T01", "race "},
        {"warm8b86fa", "WARM8b86fa", "missing from index"},
    };
    for (const auto &c : cases) {
        std::string bytes = good;
        size_t replaced = 0;
        for (size_t at = bytes.rfind(c.written); at != std::string::npos && replaced == 0; ++replaced) {
            bytes.replace(at, std::string(c.flipped).size(), c.flipped);
        }
        ASSERT_EQ(replaced, 1u) << c.written;
        ScratchFolder::write(path, bytes);
        Result<TrialStore> store = TrialStore::open(path, OpenMode::read_only);
        ASSERT_TRUE(store.ok()) << store.error().message;
        const Status status = store->verify();
        ASSERT_FALSE(status.ok()) << c.flipped;
        EXPECT_EQ(status.error().code, ErrorCode::bad_input);
        EXPECT_NE(status.error().message.find(c.message), std::string::npos)
            << c.flipped << ": " << status.error().message;
    }
}

TEST(Verify, FindsDamagedStructureAndMissingRows) {
    const ScratchFolder folder;
    const std::string path = folder / "v.db";
    ASSERT_TRUE(TrialStore::open(path, OpenMode::create)->append(sample_trial(), sample_measurement()).ok());
    const std::string good = ScratchFolder::read(path);
    const struct {
        const char *sql, *message;
    } cases[] = {
        {"DELETE FROM toolchain", "that is missing"},
        {"DELETE FROM measurement", "that is missing"},
    };
    for (const auto &[sql, message] : cases) {
        ScratchFolder::write(path, good);
        ASSERT_TRUE(Connection::open(path, OpenMode::write)->run(sql).ok());  // foreign keys are off
        const Status status = TrialStore::open(path, OpenMode::read_only)->verify();
        ASSERT_FALSE(status.ok()) << sql;
        EXPECT_NE(status.error().message.find(message), std::string::npos) << status.error().message;
    }
    std::string bytes = good;
    bytes.replace(bytes.size() - 4096, 64, std::string(64, '\xff'));
    ScratchFolder::write(path, bytes);
    const Result<TrialStore> store = TrialStore::open(path, OpenMode::read_only);
    EXPECT_FALSE(store.ok() && store->verify().ok());
}

}  // namespace
}  // namespace kiln
