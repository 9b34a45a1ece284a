#include "package/package_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <sstream>

#include "package/manifest.h"
#include "package/network_table.h"
#include "package/templates/template_text.h"
#include "runtime/arena.h"
#include "runtime/cpu_features.h"
#include "runtime/descriptor.h"
#include "runtime/kernel_abi.h"
#include "text/markup.h"

namespace kiln {
namespace {

std::string c_lines(const std::string &text) {
    std::string result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) result += "    " + c_string(line + "\n") + "\n";
    result.pop_back();
    return result;
}

template<typename T, size_t N>
std::string list(const T (&values)[N]) {
    return fmt::format("{{{}}}", fmt::join(values, ", "));
}

std::string exact(double value) { return fmt::format("{:a}", value); }

// A normalized descriptor is its bytes, whatever its fields are. The text has them as words, which the table casts
// back.
std::string descriptor_text(const kiln_descriptor &descriptor) {
    static_assert(sizeof descriptor % sizeof(uint64_t) == 0);
    uint64_t words[sizeof descriptor / sizeof(uint64_t)];
    std::memcpy(words, &descriptor, sizeof words);
    return fmt::format("__builtin_bit_cast(kiln_descriptor, DescriptorWords{{{{{:#x}}}}})", fmt::join(words, ", "));
}

std::string function(const PackagedKernel &kernel, const char *symbol, bool exists) {
    return exists ? symbol_prefix(kernel.artifact.object_hash) + symbol + "_argv" : "nullptr";
}

std::string operands_text(const CallShapes &shapes) {
    std::string text;
    for (const OperandShape &operand : shapes.operands) {
        text +=
            fmt::format("{}{{{}, {}, {}}}", text.empty() ? "" : ", ", operand.dtype, operand.rank, list(operand.shape));
    }
    return "{" + text + "}";
}

std::string info_text(const DescribedKernel &described, size_t index) {
    const PackagedKernel &kernel = *described.kernel;
    const Artifact &artifact = kernel.artifact;
    const bool tuned = kernel.best.has_value();
    return fmt::format(
        "{{sizeof(kiln_kernel_info), {}, {}, {}, {}, {}, {},\n"
        "      {}, {}, {}, {}, {}, {}, {}, &rows[{}].workload, {}, 0, {}}}",
        c_string(described.key), c_string(described.layer), c_string(kernel.candidate),
        c_string(tuned ? kernel.best->trial.id : ""), c_string(artifact.object_hash), c_string(kernel.target.halide),
        int(tuned), kernel.target.threads, artifact.packed_bytes, artifact.prepared_bytes, arena_alignment,
        described.cpu_features, exact(kernel.measurement() ? kernel.measurement()->median : 0.0), index, kernel.place,
        c_string(kernel.why_place));
}

std::string row_text(const DescribedKernel &described, size_t index) {
    const PackagedKernel &kernel = *described.kernel;
    const Artifact &artifact = kernel.artifact;
    return fmt::format(
        "    {{{{&package}},\n"
        "     {},\n"
        "     {},\n"
        "     {}, {}, {},\n"
        "     {}, {},\n"
        "     {}}},\n",
        info_text(described, index), descriptor_text(described.form.descriptor), function(kernel, compute_symbol, true),
        function(kernel, pack_symbol, artifact.packed_bytes > 0),
        function(kernel, prepare_symbol, artifact.prepared_bytes > 0), align_up(kernel.workspace_bytes),
        align_up(kernel.workspace_bytes_per_thread), operands_text(described.form.shapes));
}

std::string declarations(const Package &package) {
    std::set<std::string> functions;
    for (const PackagedKernel &kernel : package.kernels) {
        functions.insert(function(kernel, compute_symbol, true));
        functions.insert(function(kernel, pack_symbol, kernel.artifact.packed_bytes > 0));
        functions.insert(function(kernel, prepare_symbol, kernel.artifact.prepared_bytes > 0));
    }
    functions.erase("nullptr");
    std::string text;
    for (const std::string &name : functions) text += fmt::format("int {}(void **);\n", name);
    return text;
}

// Which function says what the CPU has: kernels without tile registers leave the program's signal stacks as they may be.
std::string cpu_features_function(const std::vector<DescribedKernel> &kernels, const DescribedNetworks &networks) {
    const auto needs_tiles = [](const auto &part) { return (part.cpu_features & features_with_tiles()) != 0; };
    bool any = std::ranges::any_of(kernels, needs_tiles);
    for (const DescribedNetwork &network : networks) any = any || std::ranges::any_of(network.variants, needs_tiles);
    return any ? "enabled_cpu_features" : "enabled_cpu_features_without_tiles";
}

}  // namespace

std::string symbol_prefix(std::string_view object_hash) { return fmt::format("kiln_k_{}_", object_hash); }

std::string table_source(const Package &package, const std::vector<DescribedKernel> &kernels,
                         const DescribedNetworks &networks) {
    std::string rows;
    std::vector<DescriptorIndex> index;
    for (size_t i = 0; i < kernels.size(); i++) {
        rows += row_text(kernels[i], i);
        const bool first = i == 0 || kernels[i - 1].key != kernels[i].key;
        if (first) index.push_back({descriptor_hash(kernels[i].form.descriptor), static_cast<uint32_t>(i)});
    }
    std::sort(index.begin(), index.end());
    std::string index_text;
    for (const DescriptorIndex &entry : index) index_text += fmt::format("    {{{:#x}, {}}},\n", entry.hash, entry.row);
    std::string network_text;
    for (const DescribedNetwork &network : networks) network_text += network_source(package.name, network);
    return filled(table_template, {{"FUNCTIONS", declarations(package)},
                                   {"WORDS", std::to_string(sizeof(kiln_descriptor) / sizeof(uint64_t))},
                                   {"ROWS", rows},
                                   {"INDEX", index_text},
                                   {"MANIFEST", c_lines(manifest_text(package, networks))},
                                   {"ROW_COUNT", std::to_string(kernels.size())},
                                   {"INDEX_COUNT", std::to_string(index.size())},
                                   {"NAME_TEXT", c_string(package.name)},
                                   {"TOOLCHAIN", c_string(package.toolchain)},
                                   {"FALLBACK", package.fallback ? "kiln::make_fallback" : "nullptr"},
                                   {"CPU_FEATURES", cpu_features_function(kernels, networks)},
                                   {"NETWORKS", network_text},
                                   {"NAME", package.name}});
}

}  // namespace kiln
