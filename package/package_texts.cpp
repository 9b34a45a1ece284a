#include "package/package_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "package/templates/template_text.h"
#include "text/markup.h"

namespace kiln {
namespace {

// The statements that set the tensors of a call.
std::string argument_lines(const CallShapes &shapes) {
    constexpr const char *dtypes[] = {"", "KILN_F32", "KILN_F16", "KILN_BF16", "KILN_I8", "KILN_I32", "", "KILN_U8"};
    std::string lines;
    for (const TensorArgument &argument : tensor_arguments) {
        const OperandShape &shape = shapes.operands[argument.operand];
        if (shape.rank == 0) continue;
        lines += fmt::format("arguments.{0} = kiln_tensor_dense(your_{0}, {1}, {2}, (const int64_t[]){{{3}}});\n",
                             argument.name, dtypes[shape.dtype], shape.rank,
                             fmt::join(shape.shape, shape.shape + shape.rank, ", "));
    }
    return lines;
}

// Whether a CPU gets a kernel for this workload that wants its input prepared.
bool prepares_input(const std::vector<DescribedKernel> &kernels, const std::string &key) {
    return std::ranges::any_of(kernels, [&](const DescribedKernel &described) {
        return described.key == key && described.kernel->artifact.prepared_bytes > 0;
    });
}

constexpr const char *prepared_lines =
    "arguments.prepared_bytes = kiln_info(kernel)->prepared_bytes;\n"
    "if (posix_memalign(&arguments.prepared, 64, arguments.prepared_bytes) != 0) return 1;\n";
constexpr const char *prepare_line =
    "if (status.code == KILN_OK) status = kiln_prepare(kernel, &arguments); /* for each input */\n";

std::string kernel_rows(const std::vector<DescribedKernel> &kernels) {
    std::string text;
    for (const DescribedKernel &described : kernels) {
        const PackagedKernel &kernel = *described.kernel;
        const Measurement *m = kernel.measurement();
        text += fmt::format("| {} | `{}` | {} | {} | {} |\n", markdown_text(described.layer), described.key,
                            kernel.target.halide, kernel.best ? "tuned" : "default",
                            m ? fmt::format("{:.1f}", m->median * 1e-3) : std::string("-"));
    }
    return text;
}

std::string port_rows(const char *kind, const std::vector<network::Port> &ports) {
    std::string text;
    for (const network::Port &port : ports) {
        text += fmt::format("| {} | {} | {} | {} | {} |\n", kind, markdown_text(port.name), graph::name(port.form.type),
                            graph::to_text(port.form.shape), bytes_of(port.form));
    }
    return text;
}

// "x" for one, "x0, x1" for several.
std::string argument_names(const std::string &name, const std::vector<network::Port> &ports) {
    std::vector<std::string> names;
    for (size_t i = 0; i < ports.size(); i++) names.push_back(ports.size() == 1 ? name : name + std::to_string(i));
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string preparation_section(const network::Program &program, const std::string &name) {
    return filled(preparation_readme_template,
                  {{"NAME", name},
                   {"UPPER", upper(name)},
                   {"INPUTS", argument_names("x", program.inputs)},
                   {"OUTPUTS", argument_names("prepared_x", program.outputs)},
                   {"PORTS", port_rows("input", program.inputs) + port_rows("output", program.outputs)}});
}

std::string weights_sentence(const PackagedNetwork &network, const std::string &name) {
    const std::string size = size_text(network.weights_bytes);
    if (network.embeds_weights) return fmt::format("The library holds the weights ({}).", size);
    return fmt::format("The weights ({}) are the file `lib/{}.weights`; it belongs to this very library.", size, name);
}

}  // namespace

std::string size_text(int64_t bytes) {
    if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", double(bytes) * 1e-6);
    return bytes >= 1000 ? fmt::format("{:.1f} kB", double(bytes) * 1e-3) : fmt::format("{} bytes", bytes);
}

std::string package_header(const Package &package, const DescribedNetworks &networks) {
    std::string text;
    for (const DescribedNetwork &network : networks) {
        const NetworkMemory memory = network.most_memory();
        const std::string function = network.network->function();
        text += filled(
            network_header_template,
            {{"FUNCTION", package.name + "_" + function},
             {"UPPER", upper(package.name + "_" + function)},
             {"WHAT", network.network->prepares_inputs ? "What prepares the inputs of the network" : "The network"},
             {"MODEL", comment_text(network.network->program.name)},
             {"FIXED", std::to_string(memory.fixed_bytes())},
             {"PER_THREAD", std::to_string(memory.bytes_per_thread())}});
    }
    return filled(header_template, {{"UPPER", upper(package.name)}, {"NAME", package.name}, {"NETWORK", text}});
}

std::string package_cmake_config(const Package &package) {
    return filled(cmake_config_template, {{"NAME", package.name}});
}

// The version is that of the interface: a package with more functions serves programs that need fewer.
std::string package_cmake_version() {
    return filled(cmake_version_template, {{"VERSION", std::to_string(KILN_INTERFACE_VERSION)}});
}

std::string package_pkg_config(const Package &package, LibraryKind kind) {
    const std::string libraries = kind == LibraryKind::archive ? "${libdir}/lib" + package.name + ".a -lm -pthread"
                                                               : "-L${libdir} -l" + package.name;
    return filled(pkg_config_template,
                  {{"LIBS", libraries}, {"NAME", package.name}, {"VERSION", std::to_string(KILN_INTERFACE_VERSION)}});
}

std::string package_readme(const Package &package, const std::vector<DescribedKernel> &kernels) {
    const DescribedKernel &first = kernels.front();
    const char *fallback = package.fallback ? fallback_template : no_fallback_template;
    const bool prepares = prepares_input(kernels, first.key);
    std::string text = filled(readme_template, {{"FALLBACK", filled(fallback, {{"NAME", package.name}})},
                                                {"NAME", package.name},
                                                {"KEY", first.key},
                                                {"ARGUMENTS", argument_lines(first.form.shapes)},
                                                {"PREPARED", prepares ? prepared_lines : ""},
                                                {"PREPARE", prepares ? prepare_line : ""}});
    return text + kernel_rows(kernels);
}

std::string network_readme(const DescribedNetworks &networks, const Package &package,
                           const std::vector<DescribedKernel> &kernels) {
    const PackagedNetwork &network = *networks.front().network;
    std::vector<std::string> targets;
    for (const PackagedVariant &variant : network.variants) targets.push_back(variant.target.halide);
    const std::string &name = package.name;
    const std::string file = fmt::format(
        "kiln_weights weights;\n"
        "kiln_status status = kiln_map_weights({0}_network(), \"lib/{0}.weights\", &weights);\n"
        "if (status.code == KILN_OK) status = kiln_bind_network({0}_network(), weights.data, weights.bytes, &bound);",
        name);
    const std::string embedded =
        fmt::format("kiln_status status = kiln_bind_network({}_network(), NULL, 0, &bound);", name);
    std::string preparation, symbols = fmt::format("`{}_package`", name);
    for (const DescribedNetwork &exported : networks)
        symbols += fmt::format(", `{}_{}`", name, exported.network->function());
    for (const DescribedNetwork &other : std::span(networks).subspan(1)) {
        preparation = preparation_section(other.network->program, name);
    }
    return filled(network_readme_template,
                  {{"NAME", name},
                   {"UPPER", upper(name)},
                   {"SYMBOLS", symbols},
                   {"MODEL", markdown_text(network.program.name)},
                   {"INPUTS", argument_names(networks.size() > 1 ? "prepared_x" : "x", network.program.inputs)},
                   {"OUTPUTS", argument_names("y", network.program.outputs)},
                   {"BIND", network.embeds_weights ? embedded : file},
                   {"WEIGHTS", weights_sentence(network, name)},
                   {"PORTS", port_rows("input", network.program.inputs) + port_rows("output", network.program.outputs)},
                   {"PREPARATION", preparation},
                   {"TARGETS", fmt::format("{}", fmt::join(targets, ", then "))}}) +
           kernel_rows(kernels);
}

}  // namespace kiln
