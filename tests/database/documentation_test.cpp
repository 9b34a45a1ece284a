#include <gtest/gtest.h>

#include "database/schema.h"
#include "database/trial_store.h"
#include "tests/build_paths.h"
#include "tests/database/sample_records.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

std::vector<std::string> sql_blocks(const std::string &page) {
    std::vector<std::string> blocks;
    const std::string fence = "```sql\n";
    for (size_t at = 0; (at = page.find(fence, at)) != std::string::npos;) {
        at += fence.size();
        blocks.push_back(page.substr(at, page.find("```", at) - at));
    }
    return blocks;
}

TEST(Documentation, EveryExampleQueryWorks) {
    Result<TrialStore> store = TrialStore::in_memory();
    std::vector<std::string> ids;
    for (const Sample &s : {sample('a', 1000), sample('b', 500), sample('c', 700)}) {
        ids.push_back(*store->append(s.trial, s.measurement));
    }
    ASSERT_TRUE(store->append(sample_race({ids[1], ids[2]})).ok());
    ASSERT_TRUE(store->append(sample_failure(), std::nullopt).ok());
    ASSERT_TRUE(store->name_workload(sample_trial().workload, "resnet50", "res2a_branch2b", 3).ok());
    const std::vector<std::string> blocks = sql_blocks(ScratchFolder::read(source_dir() + "/docs/database.md"));
    EXPECT_GE(blocks.size(), 5u);
    for (const std::string &sql : blocks) {
        const Result<Table> table = store->sql(sql);
        ASSERT_TRUE(table.ok()) << sql << table.error().message;
        EXPECT_FALSE(table->rows.empty()) << sql;
    }
}

TEST(Documentation, DescribesEveryTableViewAndColumn) {
    Result<TrialStore> store = TrialStore::in_memory();
    const std::string page = ScratchFolder::read(source_dir() + "/docs/database.md");
    const Result<Table> columns = store->sql(
        "SELECT t.name, c.name FROM pragma_table_list AS t JOIN pragma_table_xinfo(t.name) AS c "
        "WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'");
    ASSERT_TRUE(columns.ok()) << columns.error().message;
    for (const auto &row : columns->rows) {
        for (const Cell &name : row) {
            EXPECT_NE(page.find("`" + std::get<std::string>(name) + "`"), std::string::npos)
                << std::get<std::string>(name);
        }
    }
}

TEST(Documentation, NamesTheVersionOfTheSchemaAndEveryStep) {
    const std::string page = ScratchFolder::read(source_dir() + "/docs/database.md");
    const std::string newest = std::to_string(migration_steps().back().version);
    EXPECT_NE(page.find("`user_version` is the version of the schema, now " + newest + ":"), std::string::npos)
        << newest;
    for (const MigrationStep &step : migration_steps()) {
        const std::string version = std::to_string(step.version);
        EXPECT_NE(page.find("\n| " + version + " | "), std::string::npos) << "version " << version << " has no row";
    }
}

}  // namespace
}  // namespace kiln
