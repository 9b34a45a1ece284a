#include "package/package_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "package/templates/template_text.h"
#include "text/markup.h"

namespace kiln {
namespace {

// The statements that set the tensors of a call.
std::string argument_lines(const CallShapes &shapes) {
    constexpr const char *dtypes[] = {"", "KILN_F32", "KILN_F16", "KILN_BF16", "KILN_I8", "KILN_I32"};
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

}  // namespace

std::string package_header(const Package &package) {
    std::string upper = package.name;
    std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
    return filled(header_template, {{"UPPER", upper}, {"NAME", package.name}});
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
    std::string text = filled(readme_template, {{"FALLBACK", filled(fallback, {{"NAME", package.name}})},
                                                {"NAME", package.name},
                                                {"KEY", first.key},
                                                {"ARGUMENTS", argument_lines(first.form.shapes)}});
    for (const DescribedKernel &described : kernels) {
        const PackagedKernel &kernel = *described.kernel;
        const Measurement *m = kernel.measurement();
        text += fmt::format("| {} | `{}` | {} | {} | {} |\n", markdown_text(described.layer), described.key,
                            kernel.target.halide, kernel.best ? "tuned" : "default",
                            m ? fmt::format("{:.1f}", m->median * 1e-3) : std::string("-"));
    }
    return text;
}

}  // namespace kiln
