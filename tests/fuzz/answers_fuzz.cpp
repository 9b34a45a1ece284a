// Tables of cells with any bytes, as a query of a stranger's database answers them, and options that choose among them.
// Input: width, flags, then texts apart by newlines: two options, the names of two columns, cells.
#include <nlohmann/json.hpp>

#include "cli/answers/formats.h"
#include "cli/answers/table.h"
#include "cli/answers/terminal_text.h"
#include "cli/clock.h"
#include "tests/fuzz/fuzz_input.h"
#include "text/quoted_text.h"
#include "workload/lists/glob.h"
#include "workload/number_text.h"

using namespace kiln;

namespace {

constexpr size_t column_count = 3;

struct Question {
    uint8_t width = 0, flags = 0;
    std::string filter, sort;
    Table table;
};

Cell cell(const std::string &text) {
    if (text.empty()) return {};
    if (const auto number = parse_integer(text)) return *number;
    return text;
}

Question question(FuzzInput input) {
    Question q;
    q.width = input.take<uint8_t>();
    q.flags = input.take<uint8_t>();
    const std::string rest = input.rest();
    std::vector<std::string> texts;
    for (const std::string_view part : split(rest, '\n')) texts.emplace_back(part);
    texts.resize(std::max(texts.size(), 2 + column_count));
    q.filter = texts[0], q.sort = texts[1];
    q.table.columns.assign(texts.begin() + 2, texts.begin() + 2 + column_count);
    for (size_t i = 2 + column_count; i + column_count <= texts.size(); i += column_count) {
        std::vector<Cell> &row = q.table.rows.emplace_back();
        for (size_t k = 0; k < column_count; k++) row.push_back(cell(texts[i + k]));
    }
    return q;
}

void check_table(const Question &q) {
    const TableForm form = {{.name = q.table.columns[0], .prefix = size_t(q.flags & 8)},
                            {.name = q.table.columns[1], .context = true},
                            {.name = q.table.columns[2], .whole = (q.flags & 4) != 0}};
    const TableView view{.width = 20 + q.width, .wide = (q.flags & 1) != 0, .columns = {}};
    const RenderedTable rendered = render(q.table, q.flags & 2 ? form : TableForm(), view);
    KILN_FUZZ_EXPECT(quoted_lines(rendered.text) == rendered.text);
    KILN_FUZZ_EXPECT(rendered.text.find('\t') == std::string::npos);
    KILN_FUZZ_EXPECT(rendered.hidden.size() < column_count);
}

void check_csv(const Question &q) {
    const std::string exact = csv_text(q.table), guarded = csv_text(q.table, Formulas::guarded);
    KILN_FUZZ_EXPECT(guarded.size() >= exact.size());
    const std::string json = json_text(q.table);
    KILN_FUZZ_EXPECT(nlohmann::json::parse(json).size() == q.table.rows.size());
    KILN_FUZZ_EXPECT(nlohmann::json::parse(quoted_json(json)) == nlohmann::json::parse(json));
}

void check_options(const Question &q) {
    const bool matches = glob_match(q.filter, q.sort);
    KILN_FUZZ_EXPECT(matches || q.filter != q.sort || q.filter.find_first_of("*?") != std::string::npos);
    if (const Result<int64_t> duration = parse_duration_ns(q.filter)) KILN_FUZZ_EXPECT(*duration > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const Question q = question(FuzzInput(data, size));
    check_table(q);
    check_csv(q);
    check_options(q);
    const std::string line = quoted_line(q.filter);
    KILN_FUZZ_EXPECT(display_width(shortened(line, q.width)) <= q.width);
    return 0;
}
