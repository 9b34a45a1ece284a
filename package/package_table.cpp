#include "package/package_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "runtime/arena.h"
#include "runtime/kernel_abi.h"
#include "package/kernel_descriptor.h"
#include "package/manifest.h"

namespace kiln {
namespace {

// A C string literal of any bytes.
std::string c_literal(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\' || c == '?' || byte < 0x20 || byte >= 0x7f) {
            result += fmt::format("\\{:03o}", byte);
        } else {
            result += c;
        }
    }
    return result + '"';
}

std::string quoted_lines(const std::string &text) {
    std::string result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) result += "    " + c_literal(line + "\n") + "\n";
    result.pop_back();
    return result;
}

template<typename T, size_t N>
std::string list(const T (&values)[N]) {
    return fmt::format("{{{}}}", fmt::join(values, ", "));
}

std::string exact(double value) { return fmt::format("{:a}", value); }

std::string exact(float value) {
    if (value != value) return "__builtin_nanf(\"\")";
    if (value - value != 0) return value > 0 ? "__builtin_inff()" : "-__builtin_inff()";
    return fmt::format("{:a}f", value);
}

std::string descriptor_text(const kiln_descriptor &d) {
    std::string steps;
    for (int i = 0; i < d.epilogue_count; i++) {
        const kiln_epilogue_step &step = d.epilogue[i];
        steps += fmt::format("{}{{{}, {}, {}}}", i == 0 ? "" : ", ", step.kind, exact(step.lo), exact(step.hi));
    }
    return fmt::format(
        "{{sizeof(kiln_descriptor), {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, "
        "{}, {}, "
        "{}, 0, {{{}}}, {}, {}, {}, {}, {}, {}, {}, {}}}",
        d.operation, d.spatial_rank, d.dtype, d.output_dtype, d.batch, list(d.spatial), d.channels, list(d.kernel),
        d.output_channels, list(d.strides), list(d.padding_lo), list(d.padding_hi), list(d.lhs_dilation),
        list(d.rhs_dilation), d.feature_group_count, d.batch_group_count, d.input_layout, d.input_layout_block,
        d.output_layout, d.output_layout_block, d.kernel_layout, d.special_values, d.epilogue_count, steps,
        list(d.block), c_literal(d.from_layout), c_literal(d.to_layout), list(d.tile), list(d.output),
        list(d.tile_dimensions), d.points, d.without_batch);
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

Result<std::string> row_text(const PackagedKernel &kernel, const kiln_descriptor &descriptor, size_t index) {
    const Result<uint64_t> features = required_cpu_features(kernel.target);
    if (!features) return features.error();
    const NamedWorkload &w = kernel.workload;
    const Artifact &artifact = kernel.artifact;
    const bool tuned = kernel.best.has_value();
    // A name is for people: the list is part of it, as in `kiln tune --filter`.
    return fmt::format(
        "    {{{{&package}},\n"
        "     {{sizeof(kiln_kernel_info), {}, {}, {}, {}, {}, {},\n"
        "      {}, {}, {}, {}, {}, {}, {}, &rows[{}].workload, {}, 0, {}}},\n"
        "     {},\n"
        "     {}, {}, {},\n"
        "     {}, {},\n"
        "     {}}},\n",
        c_literal(key(w.workload)), c_literal(w.list.empty() ? w.name : w.list + "/" + w.name), c_literal(kernel.candidate),
        c_literal(tuned ? kernel.best->trial.id : ""), c_literal(artifact.object_hash), c_literal(kernel.target.halide),
        int(tuned), kernel.target.threads, artifact.packed_bytes, artifact.prepared_bytes, arena_alignment, *features,
        exact(kernel.measurement() ? kernel.measurement()->median : 0.0), index, kernel.place, c_literal(kernel.why_place),
        descriptor_text(descriptor), function(kernel, compute_symbol, true),
        function(kernel, pack_symbol, artifact.packed_bytes > 0),
        function(kernel, prepare_symbol, artifact.prepared_bytes > 0), align_up(kernel.workspace_bytes),
        align_up(kernel.workspace_bytes_per_thread), operands_text(call_shapes(w.workload)));
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

}  // namespace

std::string symbol_prefix(std::string_view object_hash) { return fmt::format("kiln_k_{}_", object_hash); }

Result<std::string> table_source(const Package &package) {
    std::string rows;
    std::vector<DescriptorIndex> index;
    for (size_t i = 0; i < package.kernels.size(); i++) {
        const Workload &workload = package.kernels[i].workload.workload;
        const Result<kiln_descriptor> descriptor = descriptor_of(workload);
        if (!descriptor) return descriptor.error();
        const Result<std::string> row = row_text(package.kernels[i], *descriptor, i);
        if (!row) return row.error();
        rows += *row;
        const bool first = i == 0 || key(package.kernels[i - 1].workload.workload) != key(workload);
        if (first) index.push_back({descriptor_hash(*descriptor), static_cast<uint32_t>(i)});
    }
    std::sort(index.begin(), index.end());
    std::string index_text;
    for (const DescriptorIndex &entry : index) index_text += fmt::format("    {{{:#x}, {}}},\n", entry.hash, entry.row);
    return fmt::format(
        "#include \"runtime/kernel_table.h\"\n\n"
        "extern \"C\" {{\n{}}}\n\n"
        "namespace {{\n\n"
        "extern const kiln_package package;\n\n"
        "extern const kiln::KernelRow rows[];\n"
        "const kiln::KernelRow rows[] = {{\n{}}};\n\n"
        "const kiln::DescriptorIndex descriptors[] = {{\n{}}};\n\n"
        "const char manifest[] =\n{};\n\n"
        "const kiln::KernelTable table = {{rows, {}, descriptors, {}}};\n\n"
        "const kiln_package package = kiln::make_package({{{}, {}, manifest}}, &table, {});\n\n"
        "}}  // namespace\n\n"
        "extern \"C\" __attribute__((visibility(\"default\"))) const kiln_package *{}_package(void) {{ return "
        "&package; "
        "}}\n",
        declarations(package), rows, index_text, quoted_lines(manifest_text(package)), package.kernels.size(),
        index.size(), c_literal(package.name), c_literal(package.toolchain),
        package.fallback ? "kiln::make_fallback" : "nullptr", package.name);
}

}  // namespace kiln
