// A database that a killed writer left behind, and its journal, with bytes changed. Whoever opens it answers or says what
// is wrong; readers leave both files as they are, and nobody touches another file.
//
// An input is the mode of opening and the question, then changes: where (4 bytes, the journal behind the database) and the
// new byte.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "database/sqlite.h"
#include "database/trial_store.h"
#include "tests/database/sample_records.h"
#include "tests/database/scratch_folder.h"
#include "tests/fuzz/fuzz_input.h"

using namespace kiln;

namespace {

struct Files {
    std::string database, journal;
};

// The files in the middle of a transaction, which SQLite has begun to write.
Files half_written(const ScratchFolder &folder) {
    const std::string path = folder / "made.db";
    {
        Result<TrialStore> store = TrialStore::open(path, OpenMode::create);
        const std::string one = *store->append(sample('a', 100).trial, sample('a', 100).measurement);
        const std::string two = *store->append(sample('b', 110).trial, sample('b', 110).measurement);
        KILN_FUZZ_EXPECT(store->append(sample_race({one, two})));
        KILN_FUZZ_EXPECT(store->append(sample_failure(), std::nullopt));
        KILN_FUZZ_EXPECT(store->name_workload(sample_trial().workload, "net", "layer", 2));
    }
    const Result<Connection> writer = Connection::open(path, OpenMode::write);
    KILN_FUZZ_EXPECT(
        writer->run_script("PRAGMA cache_size = 5; BEGIN IMMEDIATE; "
                           "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
                           "INSERT INTO workload (key, op) SELECT 'conv2d/' || i, 'conv2d' FROM n"));
    return {ScratchFolder::read(path), ScratchFolder::read(path + "-journal")};
}

// In memory where the system has such a folder: recovering a database waits for the disk again and again.
const ScratchFolder &folder() {
    if (::access("/dev/shm", W_OK | X_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 1);
    static const ScratchFolder made;
    return made;
}

template<typename Answer>
void expect_named(const Answer &answer, const std::string &path) {
    if (!answer.ok()) KILN_FUZZ_EXPECT(answer.error().message.find(path) != std::string::npos);
}

void ask_for_all_records(TrialStore &store, const std::string &path) {
    const Status whole = store.verify();
    expect_named(whole, path);
    const Result<std::string> text = store.export_text();
    expect_named(text, path);
    if (whole) KILN_FUZZ_EXPECT(text);
}

// Question 0 is all of them. One takes a third of the time, and an input that it breaks is as good.
void ask(TrialStore &store, const std::string &path, int question) {
    store.stop_when([] { return true; });  // after a million steps: pages in a circle have rows without end
    int number = 0;
    const auto is_asked = [&] { return question == 0 || question == ++number; };
    if (is_asked()) ask_for_all_records(store, path);
    for (const ReportKind kind :
         {ReportKind::best, ReportKind::trials, ReportKind::workloads, ReportKind::failures, ReportKind::races}) {
        if (is_asked()) expect_named(store.report({kind}), path);
    }
    if (is_asked()) expect_named(store.trials({}), path);
    if (is_asked()) expect_named(store.races({}), path);
    if (is_asked()) expect_named(store.best({}), path);
}
constexpr int questions = 9;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const Files made = half_written(folder());
    FuzzInput input(data, size);
    constexpr OpenMode modes[] = {OpenMode::read_only, OpenMode::write, OpenMode::create};
    const auto choice = input.take<uint8_t>();
    const OpenMode mode = modes[choice % 3];
    Files files = made;
    while (!input.empty()) {
        const size_t at = input.take<uint32_t>() % (files.database.size() + files.journal.size());
        const bool in_journal = at >= files.database.size();
        (in_journal ? files.journal[at - files.database.size()] : files.database[at]) = input.take<char>();
    }
    const std::string path = folder() / "fuzz.db", other = folder() / "other";
    ScratchFolder::write(other, path + "-journal");
    ScratchFolder::write(path, files.database);
    ScratchFolder::write(path + "-journal", files.journal);
    {
        Result<TrialStore> store = TrialStore::open(path, mode);
        if (!store) KILN_FUZZ_EXPECT(store.error().message.find(path) != std::string::npos);
        if (store) ask(*store, path, choice / 3 % (questions + 1));
        if (store && mode != OpenMode::read_only) (void)store->append(sample_trial(), sample_measurement()).ok();
    }
    KILN_FUZZ_EXPECT(ScratchFolder::read(other) == path + "-journal");
    if (mode == OpenMode::read_only) {
        KILN_FUZZ_EXPECT(ScratchFolder::read(path) == files.database);
        KILN_FUZZ_EXPECT(ScratchFolder::read(path + "-journal") == files.journal);
    }
    std::filesystem::remove(path + "-journal");
    return 0;
}
