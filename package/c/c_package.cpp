#include "package/c/c_package.h"

#include <filesystem>
#include <utility>

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

std::string table_stem(const Package &package) { return package.name + "_kernels"; }

std::vector<CFile> sources_of(const Package &package, const std::vector<CLayer> &layers) {
    std::vector<CFile> files = c_files_of(layers);
    files.insert(files.begin(), {table_stem(package), {}});
    return files;
}

Status write_sources(const Package &package, const std::vector<CLayer> &layers, const fs::path &folder) {
    if (Status s = write_text(folder / "include" / (package.name + ".h"), c_header(package, layers)); !s) return s;
    if (Status s = write_text(folder / "src" / (table_stem(package) + ".c"), c_table(package, layers)); !s) return s;
    return write_kernel_files(package.name, layers, folder);
}

// Compiles everything, and fills in what was found of the kernels.
Status examine(const std::vector<CLayer> &layers, const std::string &folder, Package *package) {
    const Result<CKernelFacts> facts = compile_kernel_files(layers, folder);
    if (!facts) return facts.error();
    const std::string stem = table_stem(*package);
    const auto table = compile_own_object({stem, "src/" + stem + ".c", {}}, folder, folder + "/" + stem + ".o");
    if (!table) return table.error();
    describe_kernels(layers, *facts, package);
    return {};
}

}  // namespace

Status write_c_folder(const Package &package, const CPackageContent &content, const PackageParts &parts,
                      const std::string &folder) {
    const std::string &name = package.name;
    const Result<std::string> schema =
        read_file_text(fs::path(parts.header_folder) / "runtime" / "manifest.schema.json", most_schema_bytes);
    if (!schema) return schema.error();
    Result<PackageFolder> staging = PackageFolder::create(folder, name);
    if (!staging) return staging.error();
    const fs::path &path = staging->path();
    // First, since it says what else may be removed.
    if (Status s = write_text(path / "share" / name / "manifest.json", manifest_text(package)); !s) return s;
    if (Status s = content.write_sources(path); !s) return s;
    const std::pair<fs::path, std::string> texts[] = {
        {path / "share" / name / "manifest.schema.json", *schema},
        {path / "Makefile", c_makefile(name, content.sources)},
        {path / "CMakeLists.txt", c_cmake(name, content.sources)},
        {path / "README.md", content.readme},
    };
    for (const auto &[file, text] : texts) {
        if (Status s = write_text(file, text); !s) return s;
    }
    return staging->commit();
}

Result<Package> write_c_package(Package package, const PackageParts &parts, const std::string &folder) {
    if (Status s = check_package_name(package.name); !s) return s.error();
    if (package.kernels.empty()) return unsupported("a package needs at least one kernel");
    package.kernels = in_table_order(std::move(package.kernels));
    const std::vector<CLayer> layers = c_layers(package);
    if (Status s = check_single_layers(layers); !s) return s.error();
    const std::vector<CFile> sources = sources_of(package, layers);
    package.files = listed_files_of(sources);
    const std::string work_folder = parts.work_folder + "/package";
    if (Status s = write_sources(package, layers, work_folder); !s) return s.error();
    if (Status s = examine(layers, work_folder, &package); !s) return s.error();
    const auto write = [&](const fs::path &path) { return write_sources(package, layers, path); };
    if (Status s = write_c_folder(package, {write, sources, c_readme(package, layers)}, parts, folder); !s)
        return s.error();
    return package;
}

}  // namespace kiln
