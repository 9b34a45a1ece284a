#include "package/network_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "package/templates/template_text.h"
#include "runtime/network/weights_file.h"
#include "text/markup.h"

namespace kiln {
namespace {

std::string ports_text(const char *name, const std::vector<network::Port> &ports) {
    std::string shapes, entries;
    for (size_t i = 0; i < ports.size(); i++) {
        const graph::TypedShape &form = ports[i].form;
        const std::string shape = form.shape.empty() ? "nullptr" : fmt::format("{}_shape_{}", name, i);
        if (!form.shape.empty())
            shapes += fmt::format("const int64_t {}[] = {{{}}};\n", shape, fmt::join(form.shape, ", "));
        entries += fmt::format("    {{{}, {}, {}, {}, {}}},\n", c_string(ports[i].name), interface_code(form.type),
                               form.shape.size(), shape, bytes_of(form));
    }
    return fmt::format("{}const kiln_port {}[] = {{\n{}}};\n", shapes, name, entries);
}

std::string place_text(const graph::Place &place) {
    constexpr const char *memories[] = {"in", "out", "stored", "work"};
    static_assert(int(graph::Place::Memory::workspace) == 3 && int(graph::Place::Memory::constant) == 2);
    return fmt::format("{{{}, {}, {}}}", memories[int(place.memory)], place.index, place.offset);
}

std::string copy_text(const network::Step &step) {
    const auto *copy = std::get_if<network::Copy>(&step.work);
    if (!copy) return "{}";
    return fmt::format("{{{}, {}, {}, {}}}", copy->rows, copy->row_bytes, copy->from_pitch, copy->to_pitch);
}

// The places of all steps in one list, and the steps that point into it.
std::string steps_text(const PackagedNetwork &network, const DescribedVariant &variant, size_t number) {
    std::string places, steps;
    size_t first = 0;
    for (size_t i = 0; i < variant.rows.size(); i++) {
        const StepPlaces &of = variant.variant->steps[i];
        places += "   ";
        for (const graph::Place &place : of) places += fmt::format(" {},", place_text(place));
        places += "\n";
        const std::string row = variant.rows[i] < 0 ? "nullptr" : fmt::format("&rows[{}]", variant.rows[i]);
        steps += fmt::format("    {{{}, places_{} + {}, {}, {}, {}}},\n", row, number, first, of.size() - 1,
                             variant.packs[i], copy_text(network.program.steps[i]));
        first += of.size();
    }
    return fmt::format(
        "const Place places_{0}[] = {{\n{1}}};\nconstinit const kiln::NetworkStep steps_{0}[] = {{\n{2}}};\n", number,
        places, steps);
}

template<typename Bytes>
std::string bytes_text(const char *type, const Bytes &bytes) {
    std::string text;
    for (const auto byte : bytes) text += fmt::format("{}{}({})", text.empty() ? "" : ", ", type, int(uint8_t(byte)));
    return "{" + text + "}";
}

std::string header_text(const PackagedNetwork &network) {
    return fmt::format("{{{}, {}, {}, {}, {}, {{}}}}", bytes_text("char", std::string_view(weights_magic, 8)),
                       weights_version, network.sections.size(), network.weights_bytes,
                       bytes_text("uint8_t", plan_bytes(network.plan)));
}

}  // namespace

std::string weights_symbol(const std::string &package, const PackagedNetwork &network) {
    return package + "_" + network.function() + "_weights";
}

std::string network_source(const std::string &package, const DescribedNetwork &described) {
    const PackagedNetwork &network = *described.network;
    const network::Program &program = network.program;
    std::string steps, variants, infos, sections;
    for (size_t i = 0; i < described.variants.size(); i++) {
        const DescribedVariant &variant = described.variants[i];
        const NetworkMemory &memory = variant.memory;
        steps += steps_text(network, variant, i);
        variants += fmt::format("    {{steps_{}, {}, {}, {}, {}, {}}},\n", i, variant.rows.size(), memory.plan,
                                memory.scratch, memory.arena, memory.arena_per_thread);
        infos += fmt::format("    {{{}, {}, {}}},\n", c_string(variant.variant->target.halide), variant.cpu_features,
                             variant.rows.size());
    }
    for (const StoredSection &section : network.sections) {
        sections += fmt::format("    {{{}, {}}},\n", section.offset, section.bytes);
    }
    const std::string symbol = weights_symbol(package, network);
    const std::string declaration =
        fmt::format("extern \"C\" __attribute__((visibility(\"hidden\"))) const char {}[];\n", symbol);
    return filled(network_template,
                  {{"WEIGHTS_DECLARATION", network.embeds_weights ? declaration : ""},
                   {"PORTS", ports_text("inputs", program.inputs) + ports_text("outputs", program.outputs)},
                   {"STEPS", steps},
                   {"VARIANTS", variants},
                   {"VARIANT_INFOS", infos},
                   {"SECTIONS", sections},
                   {"SECTION_COUNT", std::to_string(network.sections.size())},
                   {"HEADER", header_text(network)},
                   {"MODEL", c_string(program.name)},
                   {"PLAN", c_string(network.plan)},
                   {"INPUT_COUNT", std::to_string(program.inputs.size())},
                   {"OUTPUT_COUNT", std::to_string(program.outputs.size())},
                   {"VARIANT_COUNT", std::to_string(described.variants.size())},
                   {"WEIGHTS_BYTES", std::to_string(network.weights_bytes)},
                   {"WEIGHTS", network.embeds_weights ? symbol : "nullptr"},
                   {"FUNCTION", network.function()},
                   {"NAME", package}});
}

}  // namespace kiln
