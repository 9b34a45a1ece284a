#include "cli/network/network_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "cli/network/network_layers.h"
#include "graph/passes/functions/integer_multiples.h"
#include "graph/passes/passes.h"
#include "graph/passes/quantization/stored_edges.h"
#include "network/alter/alter.h"
#include "network/emit.h"
#include "network/library/alteration_library.h"
#include "text/quoted_text.h"
#include "workload/lists/glob.h"

namespace kiln {
namespace {

bool is_pass(std::string_view name) {
    return std::ranges::any_of(graph::passes(), [&](const graph::Pass &pass) { return pass.name == name; });
}

Result<std::vector<network::Alteration>> libraries_of(const NetworkOptions &options) {
    std::vector<network::Alteration> all;
    for (const std::string &file : options.alterations) {
        Result<std::vector<network::Alteration>> loaded = network::load_alterations(file);
        if (!loaded) return Error{loaded.error().code, "--alterations " + quoted_lines(loaded.error().message)};
        for (network::Alteration &alteration : *loaded) {
            const auto is_same = [&](const network::Alteration &other) { return other.name == alteration.name; };
            if (std::ranges::any_of(all, is_same)) {
                return bad_input(
                    fmt::format("--alterations {}: the name `{}` is taken", quoted_line(file), alteration.name));
            }
            all.push_back(std::move(alteration));
        }
    }
    return all;
}

Result<NetworkPrograms> emitted(const graph::Graph &graph, const network::LayoutPrices &prices) {
    if (prices.is_input_prepared) {
        Result<network::SplitProgram> split = network::emit_split(graph, prices);
        if (!split) return split.error();
        return NetworkPrograms{std::move(split->network), std::move(split->preparation)};
    }
    Result<network::Program> whole = network::emit(graph, prices);
    if (!whole) return whole.error();
    return NetworkPrograms{std::move(*whole)};
}

}  // namespace

namespace {

std::optional<network::PortQuantization> port_quantization(const std::optional<graph::UniformQuantization> &by) {
    if (!by) return {};
    return network::PortQuantization{by->scale, by->zero_point};
}

}  // namespace

Result<NetworkPrograms> programs_of(const graph::Graph &imported, const NetworkOptions &options,
                                    const ProgramChoice &choice) {
    if (choice.has_stored_edges) {
        if (options.prepares_input) {
            return Error{
                ErrorCode::usage,
                "--prepare-input: the callers of networks on soft cores prepare inputs themselves; leave it out"};
        }
        const graph::StoredEdges stored = graph::stored_edges(imported);
        ProgramChoice of_stored = choice;
        of_stored.has_stored_edges = false;
        Result<NetworkPrograms> programs = programs_of(stored.graph, options, of_stored);
        if (!programs) return programs;
        network::Program &program = programs->network;
        for (size_t i = 0; i < program.inputs.size(); i++)
            program.inputs[i].quantization = port_quantization(stored.inputs[i]);
        for (size_t i = 0; i < program.outputs.size(); i++)
            program.outputs[i].quantization = port_quantization(stored.outputs[i]);
        return programs;
    }
    const auto in_file = [&](const Error &error) {
        return Error{error.code, fmt::format("{}: {}", quoted_line(options.file), error.message)};
    };
    const auto is_off = [&](std::string_view name) {
        if (!choice.has_alterations && !is_pass(name)) return true;
        // No kernel of a soft core adds in its epilogue but a slow one.
        if (choice.has_integer_multiples && name == "fuse_quantized_additions") return true;
        return !options.without.empty() && glob_match(options.without, name);
    };
    Result<std::vector<network::Alteration>> more = libraries_of(options);
    if (!more) return more.error();
    network::LayoutPrices alterations = choice.alterations, layouts = choice.layouts;
    alterations.is_input_prepared = layouts.is_input_prepared = options.prepares_input;
    if (options.prepares_input) alterations.reads_planes = layouts.reads_planes = {};  // it moves inputs
    Result<network::Altered> altered =
        network::improve(imported, {.prices = alterations, .is_off = is_off, .more = std::move(*more)});
    if (!altered) return in_file(altered.error());
    if (choice.has_integer_multiples) altered->graph = graph::with_integer_multiples(altered->graph);
    Result<NetworkPrograms> programs = emitted(altered->graph, layouts);
    if (!programs) return in_file(programs.error());
    programs->network.name = network_name(options.file);
    programs->network.alterations = std::move(altered->notes);
    const std::vector<graph::FloatNote> notes = graph::float_notes(imported);
    explain_floats(notes, &programs->network);
    if (programs->preparation) {
        programs->preparation->name = programs->network.name;
        explain_floats(notes, &*programs->preparation);
    }
    return programs;
}

void explain_floats(const std::vector<graph::FloatNote> &notes, network::Program *program) {
    std::unordered_map<std::string_view, size_t> last;  // note of each of the model's nodes
    for (size_t i = 0; i < notes.size(); i++) {
        for (const std::string &origin : notes[i].origins) last[origin] = i;
    }
    for (network::Step &step : program->steps) {
        std::optional<size_t> note;
        for (const std::string &origin : step.origins) {
            const auto found = last.find(origin);
            if (found != last.end()) note = std::max(note.value_or(0), found->second);
        }
        if (note) step.why = "floats: " + std::string(notes[*note].why);
    }
}

int64_t layout_block(const Target &target) {
    if (is_soft_core(target)) return 0;
    constexpr int64_t fewest = 8;
    return std::max<int64_t>(fewest, vector_bytes(target) / int64_t(sizeof(float)));
}

network::LayoutPrices prices_for(const ChoiceContext &context) {
    return {.times = kernel_times(context),
            .block = layout_block(context.target),
            .reads_planes = [&context](const Workload &workload) { return reads_planes_as_fast(workload, context); }};
}

ProgramChoice choice_for(const ChoiceContext &context) {
    const bool is_soft = is_soft_core(context.target);
    const network::LayoutPrices prices = prices_for(context);
    return {.layouts = prices,
            .alterations = prices,
            .has_alterations = !is_soft,
            .has_stored_edges = is_soft,
            .has_integer_multiples = is_soft};
}

Result<network::Program> program_of(const graph::Graph &imported, const NetworkOptions &options,
                                    const ProgramChoice &choice) {
    Result<NetworkPrograms> programs = programs_of(imported, options, choice);
    if (!programs) return programs.error();
    return std::move(programs->network);
}

Result<NetworkPrograms> read_programs(const NetworkOptions &options, const ChoiceContext &context) {
    const Result<graph::Graph> graph = read(options);
    if (!graph) return graph.error();
    return programs_of(*graph, options, choice_for(context));
}

Result<network::Program> read_program(const NetworkOptions &options, const ChoiceContext &context) {
    Result<NetworkPrograms> programs = read_programs(options, context);
    if (!programs) return programs.error();
    return std::move(programs->network);
}

Result<std::vector<std::string>> alteration_names(const NetworkOptions &options) {
    std::vector<std::string> names;
    for (network::AlterationName &row : network::alteration_names()) names.push_back(std::move(row.name));
    const Result<std::vector<network::Alteration>> more = libraries_of(options);
    if (!more) return more.error();
    for (const network::Alteration &alteration : *more) names.push_back(alteration.name);
    return names;
}

network::KernelTimes kernel_times(const ChoiceContext &context) {
    if (context.store == nullptr) return {};
    return [&context](const Workload &workload) -> std::optional<double> {
        const auto usable = usable_algorithms(workload, context);
        if (!usable || usable->empty()) return std::nullopt;
        const Result<CandidateChoice> choice = choose_candidate(workload, *usable, context);
        if (!choice || !choice->best) return std::nullopt;
        return choice->best->measurement.median;
    };
}

}  // namespace kiln
