#include "package/c/c_source_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>

#include "runtime/kernel_abi.h"
#include "text/markup.h"

namespace kiln {
namespace {

bool is_of_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string pack_function(const CLayer &layer, const std::string &package) {
    std::string text = fmt::format("void {}_pack(const {}_constants *constants, int32_t *packed, void *workspace) {{\n",
                                   layer.function, package);
    if (layer.packs()) {
        text += fmt::format("    {}_pack_weights(constants->kernel, (void *)packed, workspace);\n", layer.function);
    } else {
        text += fmt::format(
            "    (void)workspace;\n    for (int32_t i = 0; i < {}; i++) ((char *)packed)[i] = ((const char "
            "*)constants->kernel)[i];\n",
            layer.weights.bytes());
    }
    for (const CConstant &constant : layer.constants) {
        if (constant.count == 1 && !constant.is_array) {
            text += fmt::format("    packed[{}] = constants->{};\n", constant.offset, constant.name);
        } else {
            text += fmt::format("    for (int32_t i = 0; i < {}; i++) packed[{} + i] = constants->{}[i];\n",
                                constant.count, constant.offset, constant.name);
        }
    }
    return text + "}\n";
}

std::string run_function(const CLayer &layer) {
    std::vector<std::string> arguments = {"input", "(const void *)packed"};
    for (const CConstant &constant : layer.constants) arguments.push_back(fmt::format("packed + {}", constant.offset));
    arguments.insert(arguments.end(), {"output", "workspace"});
    return fmt::format(
        "void {0}(const void *input, const int32_t *packed, void *output, void *workspace) {{\n"
        "    {0}_compute({1});\n}}\n",
        layer.function, fmt::join(arguments, ", "));
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

std::string c_source_text(const CLayer &layer, const std::string &package, const std::string &kernel) {
    std::string text = with_identifier(kernel, compute_symbol, layer.function + "_compute");
    // Static, so that nobody calls it but the function around it.
    const std::string pack = layer.function + "_pack_weights";
    text = with_identifier(text, pack_symbol, pack);
    if (const size_t at = text.find("void " + pack + "("); at != text.npos) text.insert(at, "static ");
    const PackagedKernel &packaged = *layer.kernel;
    return fmt::format("/* {}, made by `kiln build`\n * {}\n * {}\n */\n#include \"{}.h\"\n\n{}\n{}\n{}",
                       comment_text(layer.layer), comment_text(key(packaged.workload.workload)),
                       comment_text(packaged.candidate), package, text, pack_function(layer, package),
                       run_function(layer));
}

}  // namespace kiln
