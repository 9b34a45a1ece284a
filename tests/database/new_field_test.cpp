// What a new field of a record takes: a member with a row in the list of fields, and a step of the schema. A trial with
// one field more, which nothing else in the program knows, goes through the content id, an export and a row.
#include <gtest/gtest.h>

#include "database/database_file.h"
#include "database/record_json.h"
#include "database/rows/context_rows.h"
#include "database/rows/trial_rows.h"
#include "database/schema.h"
#include "records/content_id.h"
#include "records/content_text.h"
#include "tests/database/sample_records.h"

namespace kiln {
namespace {

struct LaterTrial {
    StoredTrial stored;
    std::optional<int64_t> joules;
    std::string cooling;
    Metric metric = Metric::ns;
    bool operator==(const LaterTrial &) const = default;
};

template<typename Fields, Is<LaterTrial> Value>
void visit_fields(Fields &fields, Value &later) {
    visit_fields(fields, later.stored);
    fields("joules", later.joules, Presence::or_null);
    fields("cooling", later.cooling, Presence::or_empty);
    fields("counted", later.metric, Presence::or_null);
}

// A real step makes the view `trials` anew instead of a second one.
constexpr RecordTable later_table{"trial", "later_trials", "trial"};
constexpr const char *schema_step =
    "ALTER TABLE trial ADD COLUMN joules INTEGER;"
    "ALTER TABLE trial ADD COLUMN cooling TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE trial ADD COLUMN counted TEXT;"
    "CREATE VIEW later_trials AS SELECT trials.*, joules, cooling, counted FROM trials JOIN trial ON trial.id = "
    "trials.trial";

LaterTrial without_value() {
    LaterTrial later{{sample_failure(), ""}, {}, "", Metric::ns};
    later.stored.trial.id = content_id(later.stored.trial, "");
    return later;
}

LaterTrial with_value() {
    LaterTrial later = without_value();
    later.joules = 0;
    later.cooling = "water";
    later.metric = Metric::cycles;
    later.stored.trial.id = std::string(32, 'a');
    return later;
}

TEST(NewField, LeavesTheContentOfRecordsWithoutItAsItWas) {
    const std::string before = content_text(trial_content, without_value().stored);
    EXPECT_EQ(content_text(trial_content, without_value()), before);
    EXPECT_EQ(content_text(trial_content, with_value()), before + "joules:1:0\ncooling:5:water\ncounted:6:cycles\n");
}

TEST(NewField, IsInTheExportOfRecordsThatHaveIt) {
    const auto export_of = [](const auto &record) {
        RecordWriter writer;
        visit_fields(writer, record);
        return writer.object;
    };
    EXPECT_EQ(export_of(without_value()).dump(), export_of(without_value().stored).dump());
    const std::string text = export_of(with_value()).dump();
    EXPECT_TRUE(text.ends_with(R"(,"joules":0,"cooling":"water","counted":"cycles"})")) << text;
    for (const LaterTrial &later : {without_value(), with_value()}) {
        LaterTrial back;
        const FieldProblem problem = read_fields(export_of(later), &back);
        EXPECT_FALSE(problem) << *problem;
        EXPECT_EQ(back, later);
    }
}

TEST(NewField, HasAColumn) {
    std::vector<MigrationStep> steps = migration_steps();
    steps.push_back({steps.back().version + 1, schema_step});
    const Result<Connection> connection = Connection::open(":memory:", OpenMode::create);
    ASSERT_TRUE(migrate(*connection, steps).ok());
    const Trial t = sample_failure();
    ASSERT_TRUE(insert_context(*connection, {t.workload, t.target, t.threads, t.machine, t.toolchain}).ok());
    for (const LaterTrial &later : {without_value(), with_value()}) {
        const Status inserted = insert_row(*connection, later_table, later);
        ASSERT_TRUE(inserted.ok()) << inserted.error().message;
        Result<Statement> rows =
            connection->prepare("SELECT " + columns_of<LaterTrial>(later_table) + " FROM later_trials WHERE trial = ?",
                                {later.stored.trial.id});
        ASSERT_TRUE(rows.ok()) << rows.error().message;
        ASSERT_TRUE(*rows->step());
        const Result<LaterTrial> back = read_row<LaterTrial>(*rows);
        ASSERT_TRUE(back.ok()) << back.error().message;
        EXPECT_EQ(*back, later);
    }
    // Rows of before the step, as this kiln writes them.
    StoredTrial earlier{sample_failure(), ""};
    earlier.trial.id = std::string(32, 'b');
    ASSERT_TRUE(insert_row(*connection, trial_table, earlier).ok());
    EXPECT_EQ(*connection->query_value("SELECT cooling FROM trial WHERE id = ?", {earlier.trial.id}), Cell(""));
    EXPECT_EQ(*connection->query_value("SELECT joules FROM trial WHERE id = ?", {earlier.trial.id}), Cell());
}

}  // namespace
}  // namespace kiln
