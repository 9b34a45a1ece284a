// The history of whole networks, and files from before there was one.
#include <gtest/gtest.h>

#include <limits>

#include "database/schema.h"
#include "database/trial_store.h"
#include "tests/database/sample_records.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

NetworkTimes sample_times(const std::string &network, const std::string &at, double ns) {
    return {.network = network,
            .target = sample_trial().target,
            .threads = 1,
            .machine = sample_trial().machine,
            .created_at = at,
            .times = {{"kiln", "0.1.0", ns, ns * 0.9, 3, false},
                      {"default", "0.1.0", ns * 2, ns * 1.8, 3, true},
                      {"onnxruntime", "1.31", ns * 1.5, ns * 1.4, 3, false}}};
}

std::vector<std::string> column(const Table &table, const std::string &name) {
    std::vector<std::string> cells;
    const auto at = std::ranges::find(table.columns, name) - table.columns.begin();
    for (const auto &row : table.rows) {
        const Cell &cell = row[size_t(at)];
        const auto *text = std::get_if<std::string>(&cell);
        cells.push_back(text ? *text : fmt::format("{:.4g}", std::get<double>(cell)));
    }
    return cells;
}

using Texts = std::vector<std::string>;

TEST(NetworkTimes, AreListedByNetworkTheLatestRunFirst) {
    Result<TrialStore> store = TrialStore::in_memory();
    for (const auto &[network, at, ns] :
         {std::tuple("b", "2026-01-01T00:00:00.000Z", 4e6), std::tuple("a", "2026-01-02T00:00:00.000Z", 2e6),
          std::tuple("a", "2026-01-03T00:00:00.000Z", 1e6)}) {
        const Status status = store->append(sample_times(network, at, ns));
        ASSERT_TRUE(status.ok()) << status.error().message;
    }
    EXPECT_EQ(*store->network_names(), (Texts{"a", "b"}));
    const Result<Report> all = store->report({.kind = ReportKind::networks});
    ASSERT_TRUE(all.ok()) << all.error().message;
    EXPECT_EQ(column(all->table, "network"), (Texts{"a", "a", "a", "a", "a", "a", "b", "b", "b"}));
    EXPECT_EQ(column(all->table, "median_ms"), (Texts{"1", "2", "1.5", "2", "4", "3", "4", "8", "6"}));
    EXPECT_EQ(column(all->table, "ratio"), (Texts{"1", "2", "1.5", "1", "2", "1.5", "1", "2", "1.5"}));
    const Result<Report> one = store->report({.kind = ReportKind::networks, .workloads = Texts{"b"}});
    ASSERT_TRUE(one.ok());
    EXPECT_EQ(column(one->table, "who"), (Texts{"kiln", "default", "onnxruntime"}));
    EXPECT_TRUE(store->verify().ok());
}

TEST(NetworkTimes, AreNoPartOfTheDigest) {
    Result<TrialStore> store = TrialStore::in_memory();
    const std::string before = *store->digest();
    ASSERT_TRUE(store->append(sample_times("a", "2026-01-01T00:00:00.000Z", 1)).ok());
    EXPECT_EQ(*store->digest(), before);
}

TEST(NetworkTimes, AreRefusedWhereTheyAreNone) {
    Result<TrialStore> store = TrialStore::in_memory();
    for (const double ns : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
        EXPECT_FALSE(store->append(sample_times("a", "2026-01-01T00:00:00.000Z", ns)).ok()) << ns;
    }
    EXPECT_FALSE(store->append(sample_times("", "2026-01-01T00:00:00.000Z", 1)).ok());
    EXPECT_TRUE(store->network_names()->empty());
}

// What a kiln before the history wrote can be read, and has the table once something was written.
TEST(NetworkTimes, OfAFileOfVersionOneAreNone) {
    const ScratchFolder folder;
    const std::string path = folder / "one.db";
    {
        const Result<Connection> connection = Connection::open(path, OpenMode::create);
        ASSERT_TRUE(connection.ok());
        ASSERT_TRUE(migrate(*connection, {migration_steps().front()}).ok());
    }
    {
        Result<TrialStore> store = TrialStore::open(path, OpenMode::read_only);
        ASSERT_TRUE(store.ok()) << store.error().message;
        EXPECT_TRUE(store->network_names()->empty());
        for (const ReportKind kind : {ReportKind::networks, ReportKind::best, ReportKind::races}) {
            const Result<Report> report = store->report({.kind = kind});
            ASSERT_TRUE(report.ok()) << report.error().message;
            EXPECT_EQ(report->rows, 0);
        }
        EXPECT_TRUE(store->report({.kind = ReportKind::networks, .sort = "median_ms"}).ok());
        EXPECT_TRUE(store->verify().ok());
    }
    Result<TrialStore> store = TrialStore::open(path, OpenMode::write);
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(store->append(sample_times("a", "2026-01-01T00:00:00.000Z", 1e6)).ok());
    EXPECT_EQ(*store->network_names(), Texts{"a"});
}

}  // namespace
}  // namespace kiln
