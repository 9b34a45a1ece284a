#include "package/c/c_kernel_files.h"

#include <filesystem>

#include "json/file_text.h"
#include "package/c/c_source_text.h"
#include "package/output/text_files.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr int64_t most_source_bytes = int64_t{64} << 20;

const CSources &sources_of(const CLayer &layer) { return std::get<CSources>(layer.kernel->artifact.code); }

}  // namespace

Status write_kernel_files(const std::string &package, const std::vector<CLayer> &layers, const std::string &folder) {
    for (const CLayer &layer : layers) {
        if (!layer.has_file()) continue;
        // That of shared code stands before that of the function that packs.
        const std::vector<std::string> &paths = sources_of(layer).paths;
        const auto kernel = read_file_text(layer.shared.empty() ? paths.front() : paths.back(), most_source_bytes);
        if (!kernel) return kernel.error();
        const std::string text = c_source_text(layer, package, *kernel);
        if (Status s = write_text(fs::path(folder) / layer.source_file(), text); !s) return s;
    }
    for (const CSharedCode &code : shared_code(layers)) {
        const auto kernel = read_file_text(sources_of(*code.layer).paths.front(), most_source_bytes);
        if (!kernel) return kernel.error();
        const std::string text = c_shared_text(code, package, *kernel);
        if (Status s = write_text(fs::path(folder) / code.source_file(), text); !s) return s;
    }
    return {};
}

Result<CKernelFacts> compile_kernel_files(const std::vector<CLayer> &layers, const std::string &folder) {
    CKernelFacts facts;
    for (const CLayer &layer : layers) {
        facts.layers.emplace_back();
        if (!layer.has_file()) continue;
        const Result<CObjectFacts> fact = check_c_object(layer, folder, folder + "/" + layer.function + ".o");
        if (!fact) return fact.error();
        facts.layers.back() = *fact;
    }
    for (const CSharedCode &code : shared_code(layers)) {
        const Result<CObjectFacts> fact = check_c_object(code, folder, folder + "/" + code.function() + ".o");
        if (!fact) return fact.error();
        facts.shared.push_back(*fact);
        for (size_t i = 0; i < layers.size(); i++) {
            if (layers[i].shared == code.function()) facts.layers[i].stack_bytes = fact->stack_bytes;
        }
    }
    return facts;
}

std::vector<std::string> kernel_objects(const std::vector<CLayer> &layers, const std::string &folder) {
    std::vector<std::string> objects;
    for (const CLayer &layer : layers) {
        if (layer.has_file()) objects.push_back(folder + "/" + layer.function + ".o");
    }
    for (const CSharedCode &code : shared_code(layers)) objects.push_back(folder + "/" + code.function() + ".o");
    return objects;
}

void describe_kernels(const std::vector<CLayer> &layers, const CKernelFacts &facts, Package *package) {
    for (size_t i = 0; i < layers.size(); i++) {
        const CLayer &layer = layers[i];
        SoftCoreKernel &soft = *package->kernels[i].soft_core;
        soft.function = layer.has_file() ? layer.function : layer.shared;
        soft.shared = layer.shared;
        soft.packed_bytes = 4 * layer.packed_words();
        soft.text_bytes = facts.layers[i].text_bytes, soft.rodata_bytes = facts.layers[i].rodata_bytes;
        soft.stack_bytes = facts.layers[i].stack_bytes;
    }
    const std::vector<CSharedCode> codes = shared_code(layers);
    for (size_t i = 0; i < codes.size(); i++) {
        package->shared_code.push_back({codes[i].function(), codes[i].source_file(), codes[i].layers,
                                        sources_of(*codes[i].layer).flags, facts.shared[i].text_bytes,
                                        facts.shared[i].rodata_bytes});
    }
}

}  // namespace kiln
