#include "cli/network/network_alterations.h"

#include <fmt/format.h>

#include "text/quoted_text.h"

namespace kiln {

using network::AlterationNote;

const std::vector<std::string> alteration_columns = {"alteration", "where",     "chosen",   "why",
                                                     "costs",      "before_us", "after_us", "gain_us"};

namespace {

std::string reason(const AlterationNote &note) {
    switch (note.reason) {
        case AlterationNote::Reason::costs_less:
            return "costs less";
        case AlterationNote::Reason::gains_too_little:
            return note.after_ns > note.before_ns * 1.001 ? "costs more" : "gains less than 2 %";
        case AlterationNote::Reason::not_measured:
            return "its kernels are not measured; `kiln tune --network` does it";
        case AlterationNote::Reason::not_weighed:
            return "not weighed: the network is too large";
    }
    return "";
}

}  // namespace

Table alteration_table(const network::Program &program) {
    Table table{.columns = alteration_columns, .rows = {}};
    for (const AlterationNote &note : program.alterations) {
        table.rows.push_back({note.alteration, quoted_line(note.where), std::string(note.is_chosen ? "yes" : "no"),
                              reason(note), std::string(note.is_measured ? "measured" : "estimated"),
                              note.before_ns * 1e-3, note.after_ns * 1e-3, (note.before_ns - note.after_ns) * 1e-3});
    }
    return table;
}

TableForm alteration_form() {
    return {{.name = "alteration"},
            {.name = "chosen"},
            {.name = "gain_us", .title = "gain us", .digits = 1},
            {.name = "before_us", .title = "before us", .digits = 1},
            {.name = "after_us", .title = "after us", .digits = 1},
            {.name = "costs"},
            {.name = "where"},
            {.name = "why"}};
}

std::string alteration_summary(const network::Program &program) {
    size_t chosen = 0;
    double gain_ns = 0;
    for (const AlterationNote &note : program.alterations) {
        if (!note.is_chosen) continue;
        chosen++;
        gain_ns += note.before_ns - note.after_ns;
    }
    if (program.alterations.empty()) return "";
    return fmt::format("alterations: {} chosen of {}, {:.3f} ms saved; --pass alterations lists them", chosen,
                       program.alterations.size(), gain_ns * 1e-6);
}

}  // namespace kiln
