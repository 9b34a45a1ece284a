#include "package/c/c_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace kiln {
namespace {

// What the files declare of a function.
std::vector<std::string> names_with(const std::string &function) {
    std::vector<std::string> names{function};
    for (const char *end : {"_pack", "_pack_all", "_input_bytes", "_output_bytes", "_packed_words", "_workspace_bytes"})
        names.push_back(function + end);
    return names;
}

CLayer c_layer(const PackagedKernel &kernel, std::string layer, std::string function) {
    const Workload &workload = kernel.workload.workload;
    const Signature tensors = signature(workload);
    CLayer made{.kernel = &kernel, .layer = std::move(layer), .function = std::move(function)};
    made.output = tensors.result;
    made.is_nest = is_nest(workload.op);
    for (const TensorForm &form : tensors.operands) {
        if (form.role == Role::input) made.input = form;
        if (form.role == Role::weights) made.weights = form;
        if (made.is_nest || form.role == Role::input || form.role == Role::weights) continue;
        const bool is_number = form.role == Role::input_zero_point || form.role == Role::output_zero_point;
        made.constants.push_back({std::string(form.name), !is_number, form.dtype});
    }
    return made;
}

}  // namespace

std::string c_identifier(const std::string &name) {
    constexpr size_t longest = 48;
    std::string text;
    for (const char c : name.substr(0, longest)) {
        const auto letter = static_cast<unsigned char>(c);
        const bool is_plain = letter < 0x80 && std::isalnum(letter);
        if (is_plain || (!text.empty() && text.back() != '_')) text += is_plain ? char(std::tolower(letter)) : '_';
    }
    while (!text.empty() && text.back() == '_') text.pop_back();
    return text.empty() ? "layer" : text;
}

namespace {

// "NAME_algorithm", with a number where that is taken.
std::string shared_name(const PackagedKernel &kernel, const std::string &package, const std::set<std::string> &taken) {
    const std::string stem = package + "_" + c_identifier(kernel.candidate.substr(0, kernel.candidate.find('@')));
    std::string name = stem;
    for (int number = 2; taken.contains(name); number++) name = fmt::format("{}_{}", stem, number);
    return name;
}

void share_code(const std::string &package, std::vector<CLayer> *layers) {
    std::set<std::string> taken;
    for (const CLayer &layer : *layers) {
        for (const std::string &name : names_with(layer.function)) taken.insert(name);
    }
    std::map<std::string, std::string> functions;  // by what names the code
    for (CLayer &layer : *layers) {
        const std::string &code = layer.kernel->artifact.shared_code;
        if (code.empty()) continue;
        const auto [known, is_new] = functions.try_emplace(code);
        if (is_new) known->second = *taken.insert(shared_name(*layer.kernel, package, taken)).first;
        layer.shared = known->second;
    }
}

}  // namespace

std::vector<CSharedCode> shared_code(const std::vector<CLayer> &layers) {
    std::vector<CSharedCode> codes;
    for (const CLayer &layer : layers) {
        if (layer.shared.empty()) continue;
        auto known = std::ranges::find(codes, layer.shared, &CSharedCode::function);
        if (known == codes.end()) known = codes.insert(known, {&layer, 0});
        known->layers++;
    }
    return codes;
}

std::vector<std::string> c_function_names(const std::string &package, const std::vector<std::string> &layers) {
    std::set<std::string> taken;
    for (const char *own : {"kernel", "kernels", "constants", "most", "run", "arena", "input", "output"}) {
        for (const std::string &name : names_with(package + "_" + own)) taken.insert(name);
    }
    std::vector<std::string> functions;
    for (const std::string &layer : layers) {
        const std::string stem = package + "_" + c_identifier(layer);
        const auto is_taken = [&](const std::string &function) {
            for (const std::string &name : names_with(function)) {
                if (taken.contains(name)) return true;
            }
            return false;
        };
        std::string function = stem;
        for (int number = 2; is_taken(function); number++) function = fmt::format("{}_{}", stem, number);
        for (const std::string &name : names_with(function)) taken.insert(name);
        functions.push_back(std::move(function));
    }
    return functions;
}

std::vector<CLayer> c_layers(const Package &package) {
    std::vector<std::string> names;
    for (const PackagedKernel &kernel : package.kernels) names.push_back(kernel.workload.name);
    const std::vector<std::string> functions = c_function_names(package.name, names);
    std::vector<CLayer> layers;
    for (size_t i = 0; i < package.kernels.size(); i++) {
        const NamedWorkload &w = package.kernels[i].workload;
        layers.push_back(c_layer(package.kernels[i], w.list.empty() ? w.name : w.list + "/" + w.name, functions[i]));
    }
    share_code(package.name, &layers);
    return layers;
}

std::vector<CLayer> c_network_layers(const Package &package) {
    std::vector<CLayer> layers = c_layers(package);
    for (CLayer &layer : layers) layer.is_packed = true;
    return layers;
}

Status check_single_layers(const std::vector<CLayer> &layers) {
    for (const CLayer &layer : layers) {
        if (layer.is_nest) {
            return unsupported(
                fmt::format("{}: packages of layers for soft cores have convolutions only; nests are part of "
                            "networks, with --network",
                            layer.layer));
        }
        for (const CConstant &constant : layer.constants) {
            if (constant.dtype == DType::i32) continue;
            return unsupported(
                fmt::format("{}: packages of layers for soft cores have no operand {} of {}; networks have, with "
                            "--network",
                            layer.layer, constant.name, name(constant.dtype)));
        }
    }
    return {};
}

}  // namespace kiln
