#include "database/record_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "records/content_id.h"
#include "tests/database/sample_records.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

StoredMeasurement stored_measurement() { return {content_id(sample_measurement()), sample_measurement()}; }

StoredTrial stored_failure() {
    StoredTrial stored{sample_failure(), ""};
    stored.trial.stderr_text = "two\nlines \xff";
    stored.trial.errors.max = std::numeric_limits<double>::infinity();
    stored.trial.id = content_id(stored.trial, "");
    return stored;
}

Race stored_race() {
    Race race = sample_race({"aaaa", "bbbb"});
    race.id = content_id(race);
    return race;
}

// Exports are kept in repositories: the same records must give the same text in every later version.
TEST(RecordText, IsFrozen) {
    const struct {
        Record record;
        const char *text;
    } cases[] = {
        {WorkloadName{"conv2d/x", "resnet50", "conv\"1", 3},
         R"({"record":"workload_name","workload":"conv2d/x","list":"resnet50","name":"conv\"1","count":3})"},
        {stored_measurement(),
         R"({"record":"measurement","id":"8b86fa19736b559dddb29a3700270137","created_at":"2026-08-14T10:00:00.000Z",)"
         R"("object_hash":"0123456789abcdef0123456789abcdef",)"
         R"("machine":"AuthenticAMD-25-17-1/l1:32768/l2:1048576/l3:33554432/cores:2/AMD EPYC","threads":1,)"
         R"("cache":"warm","metric":"ns","median":1500,"spread":0.01,"samples":[1500,1510.5,1499.75],)"
         R"("conditions":"{\"load\":0.5}"})"},
        {stored_failure(),
         R"({"record":"trial","id":"ID","created_at":"2026-08-14T10:00:01.000Z",)"
         R"("workload":"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1/epilogue:bias,relu",)"
         R"("target":"x86-64-linux-avx-avx2-f16c-fma-sse41","threads":1,"cache":"warm","error_budget":1e-05,)"
         R"("candidate":"direct@1/cpu_tile@1/pixels:14/vectors:2","origin":"default","status":"crash",)"
         R"("message":"killed by signal 11","stderr_text":{"bytes":"two\nlines ÿ"},"max_error":"inf",)"
         R"("build_ns":900000000,"toolchain":"kiln 0.1.0 halide 21.0.0 ld 2.40",)"
         R"("machine":"AuthenticAMD-25-17-1/l1:32768/l2:1048576/l3:33554432/cores:2/AMD EPYC"})"},
        {stored_race(),
         R"({"record":"race","id":"ID","created_at":"2026-08-20T00:00:00.000Z",)"
         R"("workload":"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1/epilogue:bias,relu",)"
         R"("target":"x86-64-linux-avx-avx2-f16c-fma-sse41","threads":1,"cache":"warm","error_budget":1e-05,)"
         R"("metric":"ns","confidence":0.95,"conditions":"{\"load\":0.5}","entries":[)"
         R"({"trial":"aaaa","ratio":1,"ratio_lo":1,"ratio_hi":1,"samples":[100,100.5]},)"
         R"({"trial":"bbbb","ratio":1.125,"ratio_lo":0.875,"ratio_hi":1.375,"samples":[112.5,113.0625]}],)"
         R"("toolchain":"kiln 0.1.0 halide 21.0.0 ld 2.40",)"
         R"("machine":"AuthenticAMD-25-17-1/l1:32768/l2:1048576/l3:33554432/cores:2/AMD EPYC"})"},
    };
    for (const auto &c : cases) {
        std::string expected = c.text;
        const size_t id = expected.find("\"ID\"");
        if (id != std::string::npos) {
            const std::string actual = title(c.record);
            expected.replace(id + 1, 2, actual.substr(actual.rfind(' ') + 1));
        }
        EXPECT_EQ(record_text(c.record), expected);
        const Result<Record> back = parse_record(expected);
        ASSERT_TRUE(back.ok()) << back.error().message;
        EXPECT_EQ(*back, c.record);
        EXPECT_TRUE(check_content(*back).ok());
    }
}

TEST(RecordText, ErrorsNameLineAndField) {
    const std::string head = std::string(export_head) + "\n";
    const std::string measurement = record_text(stored_measurement());
    const auto changed = [](std::string text, const std::string &from, const std::string &to) {
        const size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return text.replace(at, from.size(), to);
    };
    const struct {
        std::string text, message;
    } cases[] = {
        {"", "does not begin with"},
        {measurement, "does not begin with"},
        {R"({"format":"database/2"})", "a newer kiln wrote it"},
        {R"({"format":"database/two"})", "does not begin with"},
        {R"({"format":"database/1234567890123"})", "does not begin with"},
        {head + "<<<<<<< HEAD\n", "line 2: not JSON: "},
        {head + measurement.substr(0, 100), "line 2: not JSON: "},
        {head + "[]", "line 2: not a JSON object"},
        {head + "{}", "line 2: record: is missing"},
        {head + R"({"record":"trail"})", "line 2: record: `trail` is unknown"},
        {head + "\n\n" + changed(measurement, "\"threads\":1,", ""), "line 4: measurement: threads: is missing"},
        {head + changed(measurement, "\"threads\":1,", "\"threads\":1,\"x\":1,"), "measurement: x: unknown field"},
        {head + changed(measurement, "\"threads\":1,", "\"threads\":1.5,"),
         "threads: needs an integer from -2147483648"},
        {head + changed(measurement, "\"threads\":1,", "\"threads\":4294967297,"),
         "threads: needs an integer from -2147483648"},
        {head + changed(measurement, "\"warm\"", "\"hot\""), "cache: needs a known name; got \"hot\""},
        {head + changed(measurement, "1510.5", "\"1510.5\""), "samples: needs a number"},
        {head + changed(measurement, "\"0123456789abcdef0123456789abcdef\"", "{\"bytes\":\"\\u0100\"}"),
         "object_hash: needs characters up to U+00FF"},
        {head + changed(measurement, "\"median\":1500", "\"median\":1400"), "line 2: measurement 8b86fa"},
        {head + changed(record_text(stored_race()), "\"ratio\":1,", ""),
         "race: entries: in an entry, ratio: is missing"},
        {head + changed(record_text(stored_race()), "\"entries\":[{", "\"entries\":[1,{"),
         "race: entries: in an entry, needs an object; got 1"},
    };
    for (const auto &c : cases) {
        const Result<std::vector<Record>> records = parse_export(c.text, "file.jsonl");
        ASSERT_FALSE(records.ok()) << c.message;
        EXPECT_EQ(records.error().code, ErrorCode::bad_input);
        EXPECT_NE(records.error().message.find(c.message), std::string::npos) << records.error().message;
        EXPECT_TRUE(records.error().message.starts_with("file.jsonl: ")) << records.error().message;
    }
    EXPECT_TRUE(parse_export(head, "empty")->empty());
    EXPECT_TRUE(parse_export(export_head, "without an end of line")->empty());
}

TEST(ExportFile, IsReadLineByLineAndMoreThanOnce) {
    const ScratchFolder folder;
    const std::string path = folder / "a.jsonl";
    const std::string name = record_text(WorkloadName{"conv2d/x", "net", std::string(200'000, 'n'), 3});
    ScratchFolder::write(path, std::string(export_head) + "\r\n\n" + name + "\n" + name);
    const Result<RecordSource> source = read_export(path);
    ASSERT_TRUE(source.ok()) << source.error().message;
    for (int i = 0; i < 2; ++i) {
        int records = 0;
        const Status status = source->for_each([&](const Record &record) {
            records += std::get<WorkloadName>(record).name.size() == 200'000;
            return Status();
        });
        EXPECT_TRUE(status.ok()) << status.error().message;
        EXPECT_EQ(records, 2);
    }
    const Status refused = source->for_each([](const Record &) { return Status(bad_input("no")); });
    EXPECT_EQ(refused.error().message, path + ": line 3: no; nothing was imported");
}

TEST(ExportFile, WhatCannotBeReadIsSaid) {
    const ScratchFolder folder;
    const std::string head = std::string(export_head) + "\n", path = folder / "a.jsonl";
    const struct {
        std::string text, message;
    } cases[] = {
        {"", "does not begin with"},
        {"\n", "does not begin with"},
        {head + "[]\n", "line 2: not a JSON object"},
        {head + std::string(100'000, '[') + "\n", "line 2: is nested more than"},
        {head + R"({"record":"trial","id":)" + std::string(50'000, '[') + "\n", "line 2: is nested more than"},
        {head + "{}\n" + std::string(longest_line + 2, ' ') + "\n", "line 2: record: is missing"},
        {head + std::string(longest_line + 2, ' ') + "\n", "line 2: is longer than 64 MiB"},
        {head + R"({"record":"workload_name","workload":"conv2d/x","list":"l","name":"n","count":9223372036854775807})",
         "line 2: workload_name l/n: count: needs 1 to"},
    };
    for (const auto &c : cases) {
        ScratchFolder::write(path, c.text);
        const Result<RecordSource> source = read_export(path);
        ASSERT_TRUE(source.ok());
        const Status status = source->for_each([](const Record &) { return Status(); });
        ASSERT_FALSE(status.ok()) << c.message;
        EXPECT_TRUE(status.error().message.starts_with(path + ": ")) << status.error().message;
        EXPECT_NE(status.error().message.find(c.message), std::string::npos) << status.error().message;
    }
    EXPECT_NE(read_export(folder / "missing").error().message.find("cannot be opened"), std::string::npos);
    EXPECT_NE(read_export(folder / "").error().message.find("is a folder"), std::string::npos);
    const Result<RecordSource> endless = read_export("/dev/zero");
    ASSERT_TRUE(endless.ok());
    EXPECT_FALSE(endless->for_each([](const Record &) { return Status(); }).ok());
}

}  // namespace
}  // namespace kiln
