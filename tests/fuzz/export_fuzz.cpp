// Exports of any bytes. What is read is the same when it is written and read again. Records whose ids were repaired, as a
// stranger would do, go into a database or are refused.
#include "database/record_text.h"
#include "database/trial_store.h"
#include "records/content_id.h"
#include "tests/fuzz/fuzz_input.h"

using namespace kiln;

namespace {

void repair(WorkloadName &) {}
void repair(StoredMeasurement &stored) { stored.id = content_id(stored.measurement); }
void repair(StoredTrial &stored) { stored.trial.id = content_id(stored.trial, stored.measurement); }
void repair(Race &race) { race.id = content_id(race); }

// The lines that are records, each with the id of its content.
std::vector<Record> repaired_records(std::string_view text) {
    std::vector<Record> records;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        Result<Record> record = parse_record(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (!record) continue;
        std::visit([](auto &value) { repair(value); }, *record);
        records.push_back(std::move(*record));
    }
    return records;
}

void add_to_a_database(const std::vector<Record> &records) {
    const RecordSource source{"fuzz", [&](const std::function<Status(const Record &)> &visit) -> Status {
                                  for (const Record &record : records) {
                                      if (!check_content(record)) continue;
                                      if (Status status = visit(record); !status) return status;
                                  }
                                  return {};
                              }};
    Result<TrialStore> store = TrialStore::in_memory();
    KILN_FUZZ_EXPECT(store);
    if (!store->add({source})) return;
    KILN_FUZZ_EXPECT(store->verify());
    const Result<std::string> text = store->export_text();
    KILN_FUZZ_EXPECT(text);
    KILN_FUZZ_EXPECT(parse_export(*text, "export"));
    for (const ReportKind kind :
         {ReportKind::best, ReportKind::trials, ReportKind::workloads, ReportKind::failures, ReportKind::races}) {
        KILN_FUZZ_EXPECT(store->report({kind}));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string text = FuzzInput(data, size).rest();
    const Result<std::vector<Record>> records = parse_export(text, "fuzz.jsonl");
    if (!records) KILN_FUZZ_EXPECT(records.error().message.starts_with("fuzz.jsonl: "));
    const std::vector<Record> repaired = repaired_records(text);
    for (const Record &record : repaired) {
        const Result<Record> again = parse_record(record_text(record));
        KILN_FUZZ_EXPECT(again && *again == record);
    }
    if (!repaired.empty()) add_to_a_database(repaired);
    return 0;
}
