#include "package/c/c_package_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "package/templates/template_text.h"
#include "text/markup.h"
#include "tuner/build/cross_compiler.h"

namespace kiln {
namespace {

const std::vector<std::string> &flags_of(const CLayer &layer) {
    return std::get<CSources>(layer.kernel->artifact.code).flags;
}

// "`NAME_layer`", and in what code it is where that is shared.
std::string function_text(const CLayer &layer) {
    const std::string function = fmt::format("`{}`", layer.function);
    return layer.shared.empty() ? function : fmt::format("{}, in `{}`", function, layer.shared);
}

std::string form_text(const TensorForm &form) {
    return fmt::format("{} {}", name(form.dtype), fmt::join(form.shape(), "x"));
}

constexpr const char *call_parameters = "(const void *input, const int32_t *packed, void *output, void *workspace)";

// Of a layer that others share code with: a name for the call, which costs nothing.
std::string call_declaration(const CLayer &layer) {
    if (layer.shared.empty()) return fmt::format("void {}{};\n\n", layer.function, call_parameters);
    return fmt::format("static inline void {}{} {{\n    {}(input, packed, output, workspace);\n}}\n\n", layer.function,
                       call_parameters, layer.shared);
}

std::string declarations(const Package &package, const CLayer &layer) {
    const std::string text = fmt::format(
        "/* {}: {}, weights {} -> {} */\n"
        "#define {}_INPUT_BYTES {}\n#define {}_OUTPUT_BYTES {}\n#define {}_PACKED_WORDS {}\n"
        "#define {}_WORKSPACE_BYTES {}\n"
        "void {}_pack(const {}_constants *constants, int32_t *packed, void *workspace);\n",
        comment_text(layer.layer), form_text(layer.input), form_text(layer.weights), form_text(layer.output),
        upper(layer.function), layer.input.bytes(), upper(layer.function), layer.output.bytes(), upper(layer.function),
        layer.packed_words(), upper(layer.function), layer.kernel->workspace_bytes, layer.function, package.name);
    return text + call_declaration(layer);
}

std::string most_workspace(const std::vector<CLayer> &layers) {
    int64_t bytes = 0;
    for (const CLayer &layer : layers) bytes = std::max(bytes, layer.kernel->workspace_bytes);
    return std::to_string(bytes);
}

}  // namespace

std::string c_header(const Package &package, const std::vector<CLayer> &layers) {
    std::string text;
    for (const CSharedCode &code : shared_code(layers)) {
        text += fmt::format("/* Computes {} layer{}. */\nvoid {}{};\n\n", code.layers, code.layers == 1 ? "" : "s",
                            code.function(), call_parameters);
    }
    for (const CLayer &layer : layers) text += declarations(package, layer);
    return filled(soft_core_header_template, {{"NAME", package.name},
                                              {"UPPER", upper(package.name)},
                                              {"WORKSPACE", most_workspace(layers)},
                                              {"LAYERS", text},
                                              {"COUNT", std::to_string(layers.size())}});
}

std::string c_table(const Package &package, const std::vector<CLayer> &layers) {
    std::string text = fmt::format("#include \"{0}.h\"\n\nconst {0}_kernel {0}_kernels[{1}_KERNELS] = {{\n",
                                   package.name, upper(package.name));
    for (const CLayer &layer : layers) {
        const std::string macro = upper(layer.function);
        text += fmt::format(
            "    {{{0}, {1},\n     {2}_pack, {4}, {3}_INPUT_BYTES, {3}_OUTPUT_BYTES, {3}_PACKED_WORDS, "
            "{3}_WORKSPACE_BYTES}},\n",
            c_string(layer.layer), c_string(key(layer.kernel->workload.workload)), layer.function, macro,
            layer.computing_function());
    }
    return text + "};\n";
}

std::string chosen_text(const PackagedKernel &kernel) {
    if (!kernel.best) return "default";
    return fmt::format("{} {}", kernel.stale ? "stale trial" : "trial", kernel.best->trial.id.substr(0, 8));
}

std::vector<CFile> c_files_of(const std::vector<CLayer> &layers) {
    std::vector<CFile> files;
    for (const CLayer &layer : layers) {
        if (layer.has_file()) files.push_back({layer.function, flags_of(layer)});
    }
    for (const CSharedCode &code : shared_code(layers)) files.push_back({code.function(), flags_of(*code.layer)});
    return files;
}

std::vector<std::string> listed_files_of(const std::vector<CFile> &sources, std::vector<std::string> others) {
    others.insert(others.end(), {"CMakeLists.txt", "Makefile"});
    for (const CFile &file : sources) others.push_back("src/" + file.stem + ".c");
    std::ranges::sort(others);
    return others;
}

std::string shared_code_table(const Package &package) {
    if (package.shared_code.empty()) return "";
    std::string rows =
        "\n## Shared code\n\nThese functions compute layers of any size, which come with `packed`. A layer whose "
        "function is one of "
        "them has no code of its own.\n\n| function | layers | text | rodata | flags |\n| --- | ---: | ---: | ---: | "
        "--- |\n";
    for (const SharedSoftCoreCode &code : package.shared_code) {
        rows += fmt::format("| `{}` | {} | {} | {} | `{}` |\n", code.function, code.layers, code.text_bytes,
                            code.rodata_bytes, fmt::join(code.flags, " "));
    }
    return rows;
}

std::string c_makefile(const std::string &package, const std::vector<CFile> &files) {
    std::vector<std::string> objects;
    std::string flags;
    for (const CFile &file : files) {
        objects.push_back(fmt::format("$(BUILD)/{}.o", file.stem));
        if (!file.flags.empty()) flags += fmt::format("{}: FLAGS = {}\n", objects.back(), fmt::join(file.flags, " "));
    }
    return filled(soft_core_makefile_template, {{"AT", "@"},
                                                {"NAME", package},
                                                {"COMPILER", cross_compiler_name},
                                                {"OBJECTS", fmt::format("{}", fmt::join(objects, " \\\n\t"))},
                                                {"FLAGS", flags}});
}

std::string c_cmake(const std::string &package, const std::vector<CFile> &files) {
    std::string sources, flags;
    for (const CFile &file : files) {
        sources += "  src/" + file.stem + ".c\n";
        if (file.flags.empty()) continue;
        flags += fmt::format("  set_source_files_properties(src/{}.c PROPERTIES COMPILE_OPTIONS \"{}\")\n", file.stem,
                             fmt::join(file.flags, ";"));
    }
    return filled(soft_core_cmake_template, {{"NAME", package}, {"SOURCES", sources}, {"FLAGS", flags}});
}

std::string c_readme(const Package &package, const std::vector<CLayer> &layers) {
    std::string rows;
    for (const CLayer &layer : layers) {
        const PackagedKernel &kernel = *layer.kernel;
        const SoftCoreKernel &soft = *kernel.soft_core;
        rows += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | `{}` |\n", markdown_text(layer.layer),
                            function_text(layer), soft.cycles, kernel.workload.count, soft.text_bytes,
                            soft.rodata_bytes, soft.stack_bytes, kernel.workspace_bytes, 4 * layer.packed_words(),
                            chosen_text(kernel), fmt::join(flags_of(layer), " "));
    }
    const std::string &first = layers.front().function;
    return filled(soft_core_readme_template, {{"NAME", package.name},
                                              {"UPPER", upper(package.name)},
                                              {"COMPILER", cross_compiler_name},
                                              {"FIRST", first},
                                              {"FIRST_UPPER", upper(first)},
                                              {"CORE", package.kernels.front().soft_core->core}}) +
           rows + shared_code_table(package);
}

}  // namespace kiln
