#include "database/rows/race_rows.h"

#include "database/rows/context_rows.h"
#include "database/rows/record_columns.h"

namespace kiln {
namespace {

struct PlacedEntry {
    std::string race;
    int64_t place = 0;
    RaceEntry entry;
};

template<typename Fields, Is<PlacedEntry> Value>
void visit_fields(Fields &fields, Value &placed) {
    fields("race_id", placed.race, Presence::required);
    fields("place", placed.place, Presence::required);
    visit_fields(fields, placed.entry);
}

Result<std::vector<RaceEntry>> read_entries(const Connection &connection, const std::string &race) {
    static const std::string select = fmt::format("SELECT {} FROM race_entry WHERE race_id = ? ORDER BY place",
                                                  columns_of<PlacedEntry>(race_entry_table));
    Result<Statement> rows = connection.prepare(select, {race});
    if (!rows) return rows.error();
    std::vector<RaceEntry> entries;
    for (;;) {
        const Result<bool> row = rows->step();
        if (!row) return row.error();
        if (!*row) return entries;
        Result<PlacedEntry> placed = read_row<PlacedEntry>(*rows);
        if (!placed) return placed.error();
        entries.push_back(std::move(placed->entry));
    }
}

}  // namespace

const std::string &select_races() {
    static const std::string select = fmt::format(
        "WITH races AS (SELECT race.*, race.id AS race, workload.key AS workload, target.halide AS target, "
        "target.threads AS threads, machine.key AS machine, toolchain.text AS toolchain FROM race "
        "JOIN workload ON workload.id = race.workload_id JOIN target ON target.id = race.target_id "
        "JOIN machine ON machine.id = race.machine_id JOIN toolchain ON toolchain.id = race.toolchain_id) "
        "SELECT {} FROM races",
        columns_of<Race>(race_table));
    return select;
}

Result<Race> read_race(const Connection &connection, const Statement &row) {
    Result<Race> race = read_row<Race>(row);
    if (!race) return race;
    Result<std::vector<RaceEntry>> entries = read_entries(connection, race->id);
    if (!entries) return entries.error();
    race->entries = std::move(*entries);
    return race;
}

Status insert_race(const Connection &connection, const Race &r) {
    if (Status status = insert_context(connection, {r.workload, r.target, r.threads, r.machine, r.toolchain}); !status)
        return status;
    if (Status status = insert_row(connection, race_table, r); !status) return status;
    int64_t place = 0;
    for (const RaceEntry &entry : r.entries) {
        const PlacedEntry placed{r.id, ++place, entry};
        if (Status status = insert_row(connection, race_entry_table, placed); !status) return status;
    }
    return {};
}

}  // namespace kiln
