// A database that an earlier kiln wrote opens, and its trials count. tests/database/commit_e5b8fa4.db is what
// `kiln tune --target avx2 --trials 3` of commit e5b8fa4 recorded for the two layers below, six trials and a race; it
// is never made anew. That kiln's `build` chose the trials that are expected here.
#include <gtest/gtest.h>

#include "database/record_text.h"
#include "tests/build_paths.h"
#include "tests/database/scratch_folder.h"
#include "tests/tuner/job/fake_workshop.h"
#include "tuner/job/candidate_choice.h"

namespace kiln {
namespace {

constexpr const char *recorded_toolchain = "kiln 0.1.0 halide 21.0.0 ld 2.40";
constexpr const char *recorded_digest = "5bc44f1773fd73d1666c98a36e6e597c";
constexpr const char *recorded_machine = "AuthenticAMD-25-17-1/l1:32768/l2:1048576/l3:33554432/cores:2/AMD EPYC";

struct Layer {
    NamedWorkload workload;
    const char *trial, *candidate, *evidence;
};

std::vector<Layer> layers() {
    Workload c3x3 = convolution({1, 8, 8, 16}, {3, 3, 16, 16});
    c3x3.padding = {{1, 1}, {1, 1}};
    const Workload c1x1 = convolution({1, 7, 7, 32}, {1, 1, 32, 64});
    return {{{"small", "c3x3", 2, c3x3},
             "2f7200d0d3d0976a465c1e993ea592ce",
             "winograd_4@1/winograd@1/block_x:2/block_y:2/panel_block:1/points:0/stage_rows:0/tile_major:0/tiles_x:2/"
             "tiles_y:2/unroll:4/vectors:2",
             "median"},
            {{"small", "c1x1", 1, c1x1},
             "8009f6585509b77e10e78d5a4defee35",
             "direct@1/cpu_tile@2/panel_block:4/pixels:5/row_block:1/rows:1/unroll:4/vectors:2/x_block:8",
             "race"}};
}

class EarlierDatabase : public testing::Test {
protected:
    void SetUp() override {
        const std::string bytes = ScratchFolder::read(source_dir() + "/tests/database/commit_e5b8fa4.db");
        ASSERT_FALSE(bytes.empty());
        ScratchFolder::write(path_, bytes);
        machine_.cpu_model = "AMD EPYC";
        machine_.cpu_id = "AuthenticAMD-25-17-1";
        machine_.cores = 2;
        machine_.l1_bytes = 32 << 10, machine_.l2_bytes = 1 << 20, machine_.l3_bytes = 32 << 20;
        machine_.halide_target = "x86-64-linux-avx-avx2-f16c-fma-sse41";
        ASSERT_EQ(key(machine_), recorded_machine);
    }

    TrialStore open(OpenMode mode) {
        Result<TrialStore> store = TrialStore::open(path_, mode);
        EXPECT_TRUE(store.ok()) << store.error().message;
        return std::move(*store);
    }

    ScratchFolder folder_;
    const std::string path_ = folder_ / "earlier.db";
    Machine machine_;
};

TEST_F(EarlierDatabase, OpensWholeAndSaysTheSame) {
    const TrialStore store = open(OpenMode::read_only);
    EXPECT_TRUE(store.verify().ok());
    EXPECT_EQ(*store.digest(), recorded_digest);
    EXPECT_EQ(store.trials({})->size(), 6u);
    EXPECT_EQ(store.races({})->size(), 1u);
    const Result<Report> best = store.report({});
    ASSERT_TRUE(best.ok()) << best.error().message;
    EXPECT_EQ(best->table.rows.size(), 2u);
}

TEST_F(EarlierDatabase, GoesThroughAnExport) {
    const TrialStore store = open(OpenMode::read_only);
    const std::string path = folder_ / "export.json";
    ScratchFolder::write(path, *store.export_text());
    const Result<RecordSource> records = read_export(path);
    ASSERT_TRUE(records.ok()) << records.error().message;
    TrialStore copy = std::move(*TrialStore::in_memory());
    ASSERT_TRUE(copy.add({*records}).ok());
    EXPECT_EQ(*copy.digest(), recorded_digest);
    EXPECT_EQ(*copy.export_text(), *store.export_text());
}

TEST_F(EarlierDatabase, ItsTrialsAreChosen) {
    const TrialStore store = open(OpenMode::read_only);
    const Target target{machine_.halide_target, 1};
    // A kiln of today is another toolchain; then too they are better than nothing.
    for (const char *toolchain : {recorded_toolchain, "kiln 99"}) {
        const ChoiceContext context{
            .target = target, .machine = machine_, .store = &store, .toolchain = toolchain, .algorithms = {}};
        for (const Layer &layer : layers()) {
            const Workload &workload = layer.workload.workload;
            const auto usable = usable_algorithms(workload, context);
            ASSERT_TRUE(usable.ok()) << usable.error().message;
            const auto choice = choose_candidate(workload, *usable, context);
            ASSERT_TRUE(choice.ok()) << choice.error().message;
            ASSERT_TRUE(choice->best) << layer.workload.name << ": its trials do not count";
            EXPECT_EQ(choice->best->trial.id, layer.trial);
            EXPECT_EQ(to_text(choice->candidate), layer.candidate);
            EXPECT_EQ(choice->best->evidence, layer.evidence);
        }
    }
}

TEST_F(EarlierDatabase, ItsTrialsCountInATuningJob) {
    FakeWorkshop shop;
    shop.store = open(OpenMode::write);
    shop.machine = machine_;
    shop.target = {machine_.halide_target, 1};
    shop.builder.version = recorded_toolchain;
    std::vector<NamedWorkload> workloads;
    for (const Layer &layer : layers()) workloads.push_back(layer.workload);
    TuneOptions options;
    options.race_time_ns = 0;
    options.trials = 3;
    const auto rerun = shop.tune(workloads, options);
    ASSERT_TRUE(rerun.ok()) << rerun.error().message;
    EXPECT_EQ(shop.builder.candidates.size(), 0u) << "all is recorded";
    for (size_t i = 0; i < workloads.size(); i++) {
        EXPECT_EQ(rerun->workloads[i].trials, 3);
        EXPECT_EQ(rerun->workloads[i].best_candidate, layers()[i].candidate);
    }
    options.trials = 4;
    ASSERT_TRUE(shop.tune(workloads, options).ok());
    EXPECT_EQ(shop.builder.candidates.size(), 2u) << "one more for each layer";
    EXPECT_TRUE(shop.store.verify().ok());
}

}  // namespace
}  // namespace kiln
