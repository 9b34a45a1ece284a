#include "package/c/c_source_text.h"

#include <fmt/format.h>

#include <cctype>

#include "runtime/kernel_abi.h"
#include "text/markup.h"

namespace kiln {
namespace {

bool is_of_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string pack_function(const CLayer &layer, const std::string &package) {
    std::string arguments = "constants->kernel";
    for (const CConstant &constant : layer.constants)
        arguments += (constant.is_array ? ", constants->" : ", &constants->") + constant.name;
    return fmt::format(
        "void {0}_pack(const {1}_constants *constants, int32_t *packed, void *workspace) {{\n"
        "    {0}_pack_all({2}, packed, workspace);\n}}\n",
        layer.function, package, arguments);
}

}  // namespace

std::string with_identifier(const std::string &text, const std::string &from, const std::string &to) {
    std::string result;
    size_t begin = 0;
    for (size_t at; (at = text.find(from, begin)) != text.npos; begin = at + from.size()) {
        const bool is_whole = (at == 0 || !is_of_identifier(text[at - 1])) &&
                              (at + from.size() == text.size() || !is_of_identifier(text[at + from.size()]));
        result += text.substr(begin, at - begin) + (is_whole ? to : from);
    }
    return result + text.substr(begin);
}

namespace {

// What declares its functions.
std::string header_of(const CLayer &layer, const std::string &package) {
    return layer.is_packed ? package + "_kernels" : package;
}

// Functions of a kernel's source stand behind each other, that which packs last.
std::string without_pack(const std::string &kernel) {
    const size_t begin = kernel.find(fmt::format("\nvoid {}(", pack_symbol));
    return kernel.substr(0, begin);
}

}  // namespace

std::string c_source_text(const CLayer &layer, const std::string &package, const std::string &kernel) {
    std::string text = with_identifier(layer.is_packed ? without_pack(kernel) : kernel, compute_symbol, layer.function);
    if (!layer.is_packed)
        text = with_identifier(text, pack_symbol, layer.function + "_pack_all") + "\n" + pack_function(layer, package);
    const PackagedKernel &packaged = *layer.kernel;
    return fmt::format("/* {}, made by `kiln build`\n * {}\n * {}\n */\n#include \"{}.h\"\n\n{}",
                       comment_text(layer.layer), comment_text(key(packaged.workload.workload)),
                       comment_text(packaged.candidate), header_of(layer, package), text);
}

std::string c_shared_text(const CSharedCode &code, const std::string &package, const std::string &kernel) {
    const std::string &candidate = code.layer->kernel->candidate;
    return fmt::format("/* Layers of any size, made by `kiln build`\n * {}\n */\n#include \"{}.h\"\n\n{}",
                       comment_text(candidate), header_of(*code.layer, package),
                       with_identifier(kernel, compute_symbol, code.function()));
}

}  // namespace kiln
