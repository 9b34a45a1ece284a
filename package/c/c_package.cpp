#include "package/c/c_package.h"

#include <algorithm>
#include <filesystem>

#include "json/file_text.h"
#include "package/c/c_kernel_files.h"
#include "package/c/c_layer.h"
#include "package/c/c_package_texts.h"
#include "package/manifest.h"
#include "package/output/package_folder.h"
#include "package/output/package_name.h"
#include "package/output/text_files.h"
#include "package/table_order.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr int64_t most_schema_bytes = 1 << 20;

std::vector<std::string> files_of(const std::string &name, const std::vector<CLayer> &layers) {
    std::vector<std::string> files = {"CMakeLists.txt", "Makefile", "src/" + name + "_kernels.c"};
    for (const CLayer &layer : layers) files.push_back(layer.source_file());
    for (const CSharedCode &code : shared_code(layers)) files.push_back(code.source_file());
    std::ranges::sort(files);
    return files;
}

// Header and sources of the layers.
Status write_sources(const Package &package, const std::vector<CLayer> &layers, const fs::path &folder) {
    if (Status s = write_text(folder / "include" / (package.name + ".h"), c_header(package, layers)); !s) return s;
    return write_kernel_files(package.name, layers, folder);
}

}  // namespace

Result<Package> write_c_package(Package package, const PackageParts &parts, const std::string &folder) {
    if (Status s = check_package_name(package.name); !s) return s.error();
    if (package.kernels.empty()) return unsupported("a package needs at least one kernel");
    package.kernels = in_table_order(std::move(package.kernels));
    const std::vector<CLayer> layers = c_layers(package);
    if (Status s = check_single_layers(layers); !s) return s.error();
    package.files = files_of(package.name, layers);
    const std::string work_folder = parts.work_folder + "/package";
    if (Status s = write_sources(package, layers, work_folder); !s) return s.error();
    const Result<CKernelFacts> facts = compile_kernel_files(layers, work_folder);
    if (!facts) return facts.error();
    describe_kernels(layers, *facts, &package);
    Result<PackageFolder> staging = PackageFolder::create(folder, package.name);
    if (!staging) return staging.error();
    const fs::path &path = staging->path();
    const std::string &name = package.name;
    const fs::path manifest = path / "share" / name / "manifest.json";
    // First, since it says what else may be removed.
    if (Status s = write_text(manifest, manifest_text(package)); !s) return s.error();
    if (Status s = write_sources(package, layers, path); !s) return s.error();
    const Result<std::string> schema =
        read_file_text(fs::path(parts.header_folder) / "runtime" / "manifest.schema.json", most_schema_bytes);
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
