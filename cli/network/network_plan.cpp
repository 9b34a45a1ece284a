#include "cli/network/network_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "cli/network/network_alterations.h"
#include "text/quoted_text.h"

namespace kiln {

using network::KernelCall;
using network::Step;

const std::vector<std::string> plan_columns = {"step",   "nodes", "kind", "layout",    "algorithm",
                                               "source", "fused", "key",  "candidate", "why"};

namespace {

// Elements that go elsewhere as they are: transposes, slices, and layouts that somebody else wants.
bool only_moves(const Workload &workload) {
    return workload.op == Operation::nest && workload.reduction.empty() && workload.term == "x0" &&
           workload.dtype == workload.output_dtype;
}

// What a convolution computes beside its sums: "3x3+relu > bias", what is on its input in front of the >, a depthwise one first.
std::string fused(const Workload &workload) {
    std::vector<std::string> before, behind;
    if (!workload.depthwise.empty()) before.push_back(fmt::format("{}", fmt::join(workload.depthwise, "x")));
    for (const EpilogueStep &step : workload.prologue) before.push_back(name(step));
    for (const EpilogueStep &step : workload.epilogue) behind.push_back(name(step));
    return fmt::format("{}{}{}", fmt::join(before, "+"), before.empty() ? "" : " > ", fmt::join(behind, "+"));
}

struct Chosen {
    std::string algorithm, source, candidate, why;
};

Chosen choose(const Workload &workload, const ChoiceContext &context) {
    const auto usable = usable_algorithms(workload, context);
    if (!usable) return {"", "missing", "", usable.error().message};
    if (usable->empty()) return {"", "missing", "", "no algorithm applies of those that are allowed"};
    const Result<CandidateChoice> choice = choose_candidate(workload, *usable, context);
    if (!choice) return {"", "missing", "", choice.error().message};
    const std::string text = to_text(choice->candidate);
    return {choice->candidate.algorithm, choice->best ? "tuned" : "untuned", text, ""};
}

std::vector<std::string> layout_lines(const network::LayoutSummary &layouts) {
    const double gap = layouts.cost_ns > 0 ? layouts.cost_ns / layouts.lower_bound_ns - 1 : 0;
    return {fmt::format("layouts: {:.3f} ms, within {:.1f} % of the least; channels-last throughout {:.3f} ms",
                        layouts.cost_ns * 1e-6, 100 * gap, layouts.channels_last_ns * 1e-6),
            fmt::format("  {} of {} costs are measured, the others estimated", layouts.measured,
                        layouts.measured + layouts.estimated)};
}

// What the caller of a network for a soft core does in its place.
void add_stored_edges(const std::vector<network::Port> &ports, const char *what, std::vector<std::string> *lines) {
    for (const network::Port &port : ports) {
        if (!port.quantization) continue;
        lines->push_back(fmt::format("left to the caller: {} {} by scale {:.9g} and zero point {}", what,
                                     quoted_line(port.name), port.quantization->scale, port.quantization->zero_point));
    }
}

std::string bytes_text(int64_t bytes) { return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024); }

}  // namespace

std::string step_kind(const Step &step) {
    const auto *call = std::get_if<KernelCall>(&step.work);
    if (!call) return "copy";
    return only_moves(call->workload) ? "move" : std::string(op_name(call->workload));
}

Table plan_table(const network::Program &program, const ChoiceContext &context) {
    Table table{.columns = plan_columns, .rows = {}};
    for (const Step &step : program.steps) {
        std::vector<std::string> nodes;
        for (const std::string &origin : step.origins) nodes.push_back(quoted_line(origin));
        std::vector<Cell> row = {quoted_line(step.name), fmt::format("{}", fmt::join(nodes, ", ")), step_kind(step),
                                 step.layout};
        if (const auto *call = std::get_if<KernelCall>(&step.work)) {
            const Chosen chosen = choose(call->workload, context);
            row.insert(row.end(), {chosen.algorithm, chosen.source, fused(call->workload), key(call->workload),
                                   chosen.candidate, chosen.why.empty() ? step.why : chosen.why});
        }
        row.resize(table.columns.size());
        table.rows.push_back(std::move(row));
    }
    return table;
}

TableForm plan_form() {
    return {{.name = "step"},  {.name = "kind"},  {.name = "layout"}, {.name = "algorithm"}, {.name = "source"},
            {.name = "fused"}, {.name = "nodes"}, {.name = "key"},    {.name = "candidate"}, {.name = "why"}};
}

Table timed_plan_table(const network::Program &program, const ChoiceContext &context, const StepTimes &times) {
    Table table = plan_table(program, context);
    std::vector<std::string> peers;
    for (const PeerSteps &of_peer : times.peers) peers.push_back(of_peer.peer);
    table.columns = timed_plan_columns(peers);
    const double all_ns = std::accumulate(times.ns.begin(), times.ns.end(), 0.0);
    for (size_t i = 0; i < table.rows.size(); i++) {
        const auto *call = std::get_if<KernelCall>(&program.steps[i].work);
        const double flops = call ? static_cast<double>(flop_count(call->workload)) : 0;
        std::vector<Cell> &row = table.rows[i];
        row.push_back(times.ns[i] * 1e-3);
        for (const PeerSteps &of_peer : times.peers)
            row.push_back(of_peer.ns[i] ? Cell(*of_peer.ns[i] * 1e-3) : Cell());
        row.insert(row.end(), {times.ns[i] / all_ns, flops > 0 ? Cell(flops / times.ns[i]) : Cell()});
    }
    return table;
}

std::vector<std::string> timed_plan_columns(const std::vector<std::string> &peers) {
    std::vector<std::string> columns = plan_columns;
    columns.push_back("us");
    for (const std::string &peer : peers) columns.push_back(peer + "_us");
    columns.insert(columns.end(), {"share", "gflops"});
    return columns;
}

TableForm timed_plan_form(const std::vector<std::string> &peers) {
    TableForm times = {{.name = "us", .digits = 1}};
    for (const std::string &peer : peers) times.push_back({.name = peer + "_us", .title = peer, .digits = 1});
    times.insert(times.end(), {{.name = "share", .title = "% of all", .digits = 1, .scale = 100},
                               {.name = "gflops", .title = "GFLOP/s", .digits = 1}});
    TableForm form = plan_form();
    form.insert(form.begin() + 1, times.begin(), times.end());
    return form;
}

std::vector<std::string> plan_summary(const network::Program &program) {
    size_t calls = 0, moves = 0;
    std::set<std::string> keys;
    for (const Step &step : program.steps) {
        const auto *call = std::get_if<KernelCall>(&step.work);
        if (!call) continue;
        calls++;
        moves += only_moves(call->workload);
        keys.insert(key(call->workload));
    }
    int64_t constants = 0;
    for (const network::Constant &constant : program.constants) constants += std::ssize(constant.data.bytes());
    const double ratio = static_cast<double>(program.workspace) /
                         static_cast<double>(std::max<int64_t>(1, program.workspace_lower_bound));
    std::vector<std::string> lines = {
        fmt::format("network {}: {} calls of {} distinct kernels", quoted_line(program.name), calls, keys.size()),
        fmt::format("transforms left: {} calls that only move data, {} copies", moves, program.steps.size() - calls),
        fmt::format("constants {}", bytes_text(constants)),
    };
    for (std::string &line : layout_lines(program.layouts)) lines.push_back(std::move(line));
    if (std::string line = alteration_summary(program); !line.empty()) lines.push_back(std::move(line));
    lines.push_back(program.workspace == 0
                        ? "no memory between steps"
                        : fmt::format("memory between steps {}, {:.3f} times the lower bound of {}",
                                      bytes_text(program.workspace), ratio, bytes_text(program.workspace_lower_bound)));
    add_stored_edges(program.inputs, "quantizing input", &lines);
    add_stored_edges(program.outputs, "dequantizing output", &lines);
    return lines;
}

}  // namespace kiln
