#include "package/c/c_package.h"

#include <algorithm>
#include <filesystem>

#include "json/file_text.h"
#include "package/c/c_layer.h"
#include "package/c/c_object_checks.h"
#include "package/c/c_package_texts.h"
#include "package/c/c_source_text.h"
#include "package/manifest.h"
#include "package/output/package_folder.h"
#include "package/output/package_name.h"
#include "package/output/text_files.h"
#include "package/table_order.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr int64_t most_source_bytes = int64_t{64} << 20;

Status write_sources(const Package &package, const std::vector<CLayer> &layers, const fs::path &folder) {
    for (const CLayer &layer : layers) {
        const auto &paths = std::get<CSources>(layer.kernel->artifact.code).paths;
        const Result<std::string> kernel =
            read_file_text(layer.shared.empty() ? paths.front() : paths.back(), most_source_bytes);
        if (!kernel) return kernel.error();
        const std::string text = c_source_text(layer, package.name, *kernel);
        if (Status s = write_text(folder / layer.source_file(), text); !s) return s;
    }
    for (const CSharedCode &code : shared_code(layers)) {
        const auto &paths = std::get<CSources>(code.layer->kernel->artifact.code).paths;
        const Result<std::string> kernel = read_file_text(paths.front(), most_source_bytes);
        if (!kernel) return kernel.error();
        const std::string text = c_shared_text(code, package.name, *kernel);
        if (Status s = write_text(folder / code.source_file(), text); !s) return s;
    }
    return {};
}

void describe_files(const std::vector<CLayer> &layers, Package *package) {
    package->files = {"CMakeLists.txt", "Makefile", "src/" + package->name + "_kernels.c"};
    for (const CLayer &layer : layers) package->files.push_back(layer.source_file());
    for (const CSharedCode &code : shared_code(layers)) package->files.push_back(code.source_file());
    std::ranges::sort(package->files);
    for (size_t i = 0; i < layers.size(); i++) {
        package->kernels[i].soft_core->function = layers[i].function;
        package->kernels[i].soft_core->shared = layers[i].shared;
        package->kernels[i].soft_core->packed_bytes = 4 * layers[i].packed_words();
    }
}

// What the checks found, in the order of the layers and of shared_code(). A layer's stack is that of its call, whoever has the
// code; its bytes are those of its own.
struct CPackageFacts {
    std::vector<CObjectFacts> layers, shared;
};

void describe_sizes(const std::vector<CLayer> &layers, const CPackageFacts &facts, Package *package) {
    for (size_t i = 0; i < layers.size(); i++) {
        SoftCoreKernel &soft = *package->kernels[i].soft_core;
        soft.text_bytes = facts.layers[i].text_bytes, soft.rodata_bytes = facts.layers[i].rodata_bytes;
        soft.stack_bytes = facts.layers[i].stack_bytes;
    }
    const std::vector<CSharedCode> codes = shared_code(layers);
    for (size_t i = 0; i < codes.size(); i++) {
        package->shared_code.push_back({codes[i].function(), codes[i].source_file(), codes[i].layers,
                                        std::get<CSources>(codes[i].layer->kernel->artifact.code).flags,
                                        facts.shared[i].text_bytes, facts.shared[i].rodata_bytes});
    }
}

// Writes header and sources of the layers into a folder, compiles and checks them there: OBJECT is FUNCTION.o.
Result<CPackageFacts> compile_layers(const Package &package, const std::vector<CLayer> &layers,
                                     const std::string &folder) {
    if (Status s = write_text(fs::path(folder) / "include" / (package.name + ".h"), c_header(package, layers)); !s)
        return s.error();
    if (Status s = write_sources(package, layers, folder); !s) return s.error();
    CPackageFacts facts;
    for (const CLayer &layer : layers) {
        Result<CObjectFacts> fact = check_c_object(layer, folder, folder + "/" + layer.function + ".o");
        if (!fact) return fact.error();
        facts.layers.push_back(*fact);
    }
    for (const CSharedCode &code : shared_code(layers)) {
        Result<CObjectFacts> fact = check_c_object(code, folder, folder + "/" + code.function() + ".o");
        if (!fact) return fact.error();
        facts.shared.push_back(*fact);
        for (size_t i = 0; i < layers.size(); i++) {
            if (layers[i].shared == code.function()) facts.layers[i].stack_bytes = fact->stack_bytes;
        }
    }
    return facts;
}

}  // namespace

Result<Package> write_c_package(Package package, const PackageParts &parts, const std::string &folder) {
    if (Status s = check_package_name(package.name); !s) return s.error();
    if (package.kernels.empty()) return unsupported("a package needs at least one kernel");
    package.kernels = in_table_order(std::move(package.kernels));
    const std::vector<CLayer> layers = c_layers(package);
    if (Status s = check_single_layers(layers); !s) return s.error();
    describe_files(layers, &package);
    const auto facts = compile_layers(package, layers, parts.work_folder + "/package");
    if (!facts) return facts.error();
    describe_sizes(layers, *facts, &package);
    Result<PackageFolder> staging = PackageFolder::create(folder, package.name);
    if (!staging) return staging.error();
    const fs::path &path = staging->path();
    const std::string &name = package.name;
    const fs::path manifest = path / "share" / name / "manifest.json";
    // First, since it says what else may be removed.
    if (Status s = write_text(manifest, manifest_text(package)); !s) return s.error();
    const fs::path header = path / "include" / (name + ".h");
    if (Status s = write_text(header, c_header(package, layers)); !s) return s.error();
    if (Status s = write_sources(package, layers, path); !s) return s.error();
    const Result<std::string> schema =
        read_file_text(fs::path(parts.header_folder) / "runtime" / "manifest.schema.json", most_source_bytes);
    if (!schema) return schema.error();
    std::vector<CFile> files = c_files_of(layers);
    files.insert(files.begin(), {name + "_kernels", {}});
    const std::pair<fs::path, std::string> texts[] = {
        {path / "share" / name / "manifest.schema.json", *schema},
        {path / "src" / (name + "_kernels.c"), c_table(package, layers)},
        {path / "Makefile", c_makefile(name, files)},
        {path / "CMakeLists.txt", c_cmake(name, files)},
        {path / "README.md", c_readme(package, layers)},
    };
    for (const auto &[file, text] : texts) {
        if (Status s = write_text(file, text); !s) return s.error();
    }
    if (Status s = staging->commit(); !s) return s.error();
    return package;
}

}  // namespace kiln
