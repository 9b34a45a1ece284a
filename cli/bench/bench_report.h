// What `kiln bench` measured, as a table and as `bench/1` JSON. cli/bench/bench_chart.h draws it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/answers/answer.h"
#include "compare/bench.h"
#include "tuner/measure/hardware_probe.h"
#include "workload/lists/workload_list.h"
#include "workload/target.h"

namespace kiln {

// A whole network, beside the layers or the steps that it consists of.
struct NetworkRow {
    std::string name;
    Layer layer;
    Table steps = {};  // each step of a run with its time; without columns unless asked for
    TableForm steps_form = {};
};

struct BenchReport {
    std::vector<NamedWorkload> workloads;
    std::vector<Layer> layers;  // one each
    Target target;
    FmaPeak peak;
    std::optional<FmaPeak> int8_peak = {};  // where some layer is quantized
    std::vector<Bandwidth> bandwidths;      // smallest working set first
    std::vector<std::string> peers;
    std::vector<NetworkRow> networks = {};
};

// The peak that shares of a layer are of.
const FmaPeak &peak_of(const BenchReport &report, const Workload &workload);

// The columns of the table, known before anything is measured.
std::vector<std::string> bench_columns(const std::vector<std::string> &peers);

Table bench_table(const BenchReport &report);
Table network_table(const BenchReport &report);
void print_table(const BenchReport &report, const AnswerOptions &options);
void print_json(const BenchReport &report);

}  // namespace kiln
