#include "package/c/c_network_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "package/c/c_package_texts.h"
#include "package/templates/template_text.h"
#include "text/markup.h"
#include "tuner/build/cross_compiler.h"

namespace kiln {
namespace {

using graph::Place;

// As kernels take tensors: numbers of f32 are their bits there.
const char *kernel_type(DType dtype) {
    switch (dtype) {
        case DType::i8:
            return "int8_t";
        case DType::u8:
            return "uint8_t";
        case DType::i32:
            return "int32_t";
        default:
            return "uint32_t";
    }
}

std::string number_text(double number) {
    std::string text = fmt::format("{:.9g}", number);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text + "f";
}

std::string form_text(const network::Port &port) {
    return fmt::format("{} {}", graph::name(port.form.type), graph::to_text(port.form.shape));
}

std::string declaration(const CPort &port) {
    return fmt::format("{}{} *{}", port.is_output ? "" : "const ", c_port_type(port.port.form.type), port.name);
}

std::string parameters(const CNetwork &network) {
    std::vector<std::string> list;
    for (const CPort &port : network.ports) list.push_back(declaration(port));
    return list.empty() ? "void" : fmt::format("{}", fmt::join(list, ", "));
}

// An argument of a kernel.
class Arguments {
public:
    explicit Arguments(const CNetwork &network) : network_(network) {}

    std::string of(const Place &place) const {
        switch (place.memory) {
            case Place::Memory::input:
                return of_port(network_.ports[size_t(place.index)], place.offset);
            case Place::Memory::output:
                return of_port(network_.ports[network_.program->inputs.size() + size_t(place.index)], place.offset);
            case Place::Memory::constant:
                return pointer("const void", network_.package + "_constants", "const char", place.offset, 4);
            case Place::Memory::workspace:
                break;
        }
        return fmt::format("(void *)(work + {})", place.offset);
    }

private:
    static std::string of_port(const CPort &port, int64_t offset) {
        return pointer(port.is_output ? "void" : "const void", port.name, port.is_output ? "char" : "const char",
                       offset, size_of(port.port.form.type));
    }

    static std::string pointer(const char *type, const std::string &array, const char *byte, int64_t offset,
                               int64_t size) {
        if (offset == 0) return fmt::format("({} *){}", type, array);
        if (offset % size == 0) return fmt::format("({} *)({} + {})", type, array, offset / size);
        return fmt::format("({} *)(({} *){} + {})", type, byte, array, offset);
    }

    const CNetwork &network_;
};

constexpr const char *copying_function =
    R"(static void kiln_copy_rows(const char *from, char *to, int32_t rows, int32_t bytes, int32_t from_pitch, int32_t to_pitch) {
    for (int32_t row = 0; row < rows; row++) {
        for (int32_t i = 0; i < bytes; i++) to[row * to_pitch + i] = from[row * from_pitch + i];
    }
}

)";

std::string step_text(const CNetwork &network, const CNetworkStep &step) {
    const Arguments arguments(network);
    std::vector<std::string> list;
    for (const Place &place : step.arguments) list.push_back(arguments.of(place));
    std::string function = "kiln_copy_rows";
    if (step.kernel < 0) {
        const auto &copy = std::get<network::Copy>(step.step->work);
        for (const int64_t number : {copy.rows, copy.row_bytes, copy.from_pitch, copy.to_pitch})
            list.push_back(std::to_string(number));
    } else {
        function = network.layers[size_t(step.kernel)].computing_function();
        list.push_back(network.workspace_bytes > 0 ? fmt::format("work + {}", network.values_bytes) : "0");
    }
    return fmt::format("    /* {} */\n    {}({});\n", comment_text(step.step->name), function, fmt::join(list, ", "));
}

// Nothing reads some inputs, and outputs may have no elements.
bool is_used(const CNetwork &network, size_t port) {
    const size_t inputs = network.program->inputs.size();
    const auto is_it = [&](const Place &place) {
        if (place.memory == Place::Memory::input) return size_t(place.index) == port;
        return place.memory == Place::Memory::output && inputs + size_t(place.index) == port;
    };
    return std::ranges::any_of(network.steps,
                               [&](const CNetworkStep &step) { return std::ranges::any_of(step.arguments, is_it); });
}

}  // namespace

std::string c_network_header(const CNetwork &network) {
    std::string ports;
    for (const CPort &port : network.ports) {
        ports += fmt::format("/* `{}`: {}, {} of the model */\n#define {}_BYTES {}\n", port.name, form_text(port.port),
                             comment_text(port.port.name), port.macro, network::bytes_of(port.port));
        if (port.port.quantization) {
            ports += fmt::format("#define {0}_SCALE {1}\n#define {0}_ZERO_POINT ({2})\n", port.macro,
                                 number_text(port.port.quantization->scale), port.port.quantization->zero_point);
        }
        ports += "\n";
    }
    return filled(soft_core_network_header_template, {{"NAME", network.package},
                                                      {"UPPER", upper(network.package)},
                                                      {"MODEL", comment_text(network.program->name)},
                                                      {"ARENA", std::to_string(network.arena_bytes())},
                                                      {"PORTS", ports},
                                                      {"PARAMETERS", parameters(network)}});
}

std::string c_network_run(const CNetwork &network) {
    std::string text =
        fmt::format("/* The steps of {}, made by `kiln build` */\n#include \"{}.h\"\n#include \"{}_kernels.h\"\n\n",
                    comment_text(network.program->name), network.package, network.package);
    const bool copies = std::ranges::any_of(network.steps, [](const CNetworkStep &step) { return step.kernel < 0; });
    if (network.arena_bytes() > 0)
        text += fmt::format("static int64_t arena[{}];\n\n", (network.arena_bytes() + 7) / 8);
    if (copies) text += copying_function;
    text += fmt::format("void {}({}) {{\n", network.function(), parameters(network));
    if (network.arena_bytes() > 0) text += "    char *const work = (char *)arena;\n";
    for (const CNetworkStep &step : network.steps) text += step_text(network, step);
    for (size_t i = 0; i < network.ports.size(); i++) {
        if (!is_used(network, i)) text += fmt::format("    (void){};\n", network.ports[i].name);
    }
    return text + "}\n";
}

std::string c_network_constants(const CNetwork &network) {
    std::string text =
        fmt::format("/* Packed weights and other constants, made by `kiln build` */\n#include \"{}_kernels.h\"\n\n",
                    network.package);
    text += fmt::format("const int32_t {}_constants[{}] = {{\n", network.package, network.constants.size());
    std::string line;
    for (const int32_t word : network.constants) {
        // The digits of the least number alone are no int.
        line += word == INT32_MIN ? std::string("INT32_MIN,") : fmt::format("{},", word);
        if (line.size() < 110) continue;
        text += line + "\n";
        line.clear();
    }
    return text + line + "\n};\n";
}

std::string c_kernels_header(const std::string &package, const std::vector<CLayer> &layers) {
    std::string text = fmt::format(
        "/* What the files of {0} have of each other, made by `kiln build` */\n#ifndef {1}_KERNELS_H\n"
        "#define {1}_KERNELS_H\n\n#include <stdint.h>\n\nextern const int32_t {0}_constants[];\n\n",
        package, upper(package));
    const char *of_convolution = "const void *restrict input, const int32_t *restrict constants, void *restrict output";
    for (const CLayer &layer : layers) {
        std::vector<std::string> list;
        if (!layer.has_file()) continue;
        if (layer.is_nest) {
            for (const TensorForm &form : signature(layer.kernel->workload.workload).operands)
                list.push_back(fmt::format("const {} *{}", kernel_type(form.dtype), form.name));
            list.push_back(fmt::format("{} *output", kernel_type(layer.output.dtype)));
        } else {
            list = {of_convolution};
        }
        text += fmt::format("void {}({}, void *workspace);\n", layer.function, fmt::join(list, ", "));
    }
    for (const CSharedCode &code : shared_code(layers))
        text += fmt::format("void {}({}, void *workspace);\n", code.function(), of_convolution);
    return text + "\n#endif\n";
}

std::string c_network_readme(const CNetwork &network, const Package &package) {
    const SoftCoreNetwork &facts = *package.soft_core_network;
    std::string declarations, ports, kernels;
    std::vector<std::string> arguments;
    for (const CPort &port : network.ports) {
        const network::Port &of_model = port.port;
        declarations += fmt::format("static {} {}[{}];\n", c_port_type(of_model.form.type), port.name,
                                    *graph::element_count(of_model.form.shape));
        arguments.push_back(port.name);
        const auto &stored = of_model.quantization;
        ports += fmt::format("| {} | `{}` | {} | {} | {} | {} | {} | {} |\n", port.is_output ? "output" : "input",
                             port.name, markdown_text(of_model.name), graph::name(of_model.form.type),
                             graph::to_text(of_model.form.shape), bytes_of(of_model),
                             stored ? fmt::format("{:.9g}", stored->scale) : "",
                             stored ? std::to_string(stored->zero_point) : "");
    }
    for (size_t i = 0; i < network.layers.size(); i++) {
        const CLayer &layer = network.layers[i];
        const PackagedKernel &kernel = *layer.kernel;
        const SoftCoreKernel &soft = *kernel.soft_core;
        const auto count = std::ranges::count(network.steps, static_cast<int>(i), &CNetworkStep::kernel);
        kernels += fmt::format("| {} | `{}` | {} | {} | {} | {} | {} | {} | {} | `{}` |\n",
                               markdown_text(kernel.workload.name), soft.function, soft.cycles, count, soft.text_bytes,
                               soft.rodata_bytes, soft.stack_bytes, kernel.workspace_bytes, chosen_text(kernel),
                               fmt::join(std::get<CSources>(kernel.artifact.code).flags, " "));
    }
    return filled(soft_core_network_readme_template, {{"NAME", network.package},
                                                      {"MODEL", markdown_text(network.program->name)},
                                                      {"COMPILER", cross_compiler_name},
                                                      {"DECLARATIONS", declarations},
                                                      {"ARGUMENTS", fmt::format("{}", fmt::join(arguments, ", "))},
                                                      {"PORTS", ports},
                                                      {"CORE", facts.core},
                                                      {"CYCLES", std::to_string(facts.cycles)},
                                                      {"TEXT", std::to_string(facts.text_bytes)},
                                                      {"CONSTANTS", std::to_string(facts.constant_bytes)},
                                                      {"ARENA", std::to_string(facts.arena_bytes)},
                                                      {"STACK", std::to_string(facts.stack_bytes)},
                                                      {"VALUES", std::to_string(network.values_bytes)},
                                                      {"WORKSPACE", std::to_string(network.workspace_bytes)}}) +
           kernels + shared_code_table(package);
}

}  // namespace kiln
