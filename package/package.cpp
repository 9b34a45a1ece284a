#include "package/package.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "json/file_text.h"
#include "package/described_kernel.h"
#include "package/described_network.h"
#include "package/manifest.h"
#include "package/network_table.h"
#include "package/output/package_folder.h"
#include "package/output/package_name.h"
#include "package/output/text_files.h"
#include "package/package_table.h"
#include "package/package_texts.h"
#include "package/package_tools.h"
#include "package/table_order.h"

namespace kiln {
namespace fs = std::filesystem;

namespace {

constexpr int64_t most_header_bytes = int64_t(1) << 20;

// lib/libNAME.a and lib/libNAME.so, of the same object.
Status write_libraries(const Package &package, const std::string &table, const PackageParts &parts,
                       const fs::path &folder) {
    const Result<PackageTools> tools = PackageTools::find();
    if (!tools) return tools.error();
    const fs::path work = fs::path(parts.work_folder) / "package";
    if (Status s = make_folders(work); !s) return s;
    if (Status s = write_text(work / "table.cpp", table); !s) return s;
    if (Status s = tools->compile(work / "table.cpp", parts.header_folder, work / "table.o"); !s) return s;

    std::vector<std::string> inputs = {work / "table.o"};
    std::set<std::string> hashes;
    for (const PackagedKernel &kernel : package.kernels) {
        const std::string &hash = kernel.artifact.object_hash;
        if (!hashes.insert(hash).second) continue;
        inputs.push_back(work / (hash + ".o"));
        const Result<std::string> code = object_path(kernel.artifact);
        if (!code) return code.error();
        Status s = tools->prefix_symbols(*code, symbol_prefix(hash), inputs.back());
        if (!s) return s;
    }
    std::vector<std::string> symbols = {package.name + "_package"};
    for (const PackagedNetwork &network : package.networks) {
        symbols.push_back(fmt::format("{}_{}", package.name, network.function()));
        if (!network.embeds_weights) continue;
        inputs.push_back(work / fmt::format("{}_weights.o", network.function()));
        Status s = tools->embed(network.weights_file, weights_symbol(package.name, network), inputs.back());
        if (!s) return s;
    }
    inputs.push_back(parts.runtime_library);
    const fs::path object = work / (package.name + ".o");
    if (Status s = tools->merge(inputs, symbols, object); !s) return s;
    if (Status s = make_folders(folder); !s) return s;
    const std::string stem = "lib" + package.name;
    if (Status s = tools->archive(object, folder / (stem + ".a")); !s) return s;
    return tools->link_shared(object, folder / (stem + ".so"));
}

Status write_weights_file(const Package &package, const fs::path &folder) {
    for (const PackagedNetwork &network : package.networks) {
        if (network.embeds_weights) continue;
        std::error_code error;
        const fs::path path = folder / (package.name + ".weights");
        fs::copy_file(network.weights_file, path, error);
        if (error) return cannot("write the weights", path, error.message());
    }
    return {};
}

Status write_files(const Package &package, const PackageParts &parts, const fs::path &folder) {
    const std::string &name = package.name;
    const Result<std::vector<DescribedKernel>> kernels = describe_kernels(package);
    if (!kernels) return kernels.error();
    const Result<DescribedNetworks> networks = describe_networks(package, *kernels);
    if (!networks) return networks.error();
    if (Status s = write_libraries(package, table_source(package, *kernels, *networks), parts, folder / "lib"); !s)
        return s;
    if (Status s = write_weights_file(package, folder / "lib"); !s) return s;
    const std::pair<const char *, fs::path> copies[] = {
        {"kiln.h", fs::path("include") / name / "kiln.h"},
        {"kiln.hpp", fs::path("include") / name / "kiln.hpp"},
        {"manifest.schema.json", fs::path("share") / name / "manifest.schema.json"},
    };
    for (const auto &[file, path] : copies) {
        const Result<std::string> text =
            read_file_text(fs::path(parts.header_folder) / "runtime" / file, most_header_bytes);
        if (!text) return text.error();
        if (Status s = write_text(folder / path, *text); !s) return s;
    }
    const std::pair<fs::path, std::string> texts[] = {
        {fs::path("include") / (name + ".h"), package_header(package, *networks)},
        {fs::path("lib/cmake") / name / (name + "-config.cmake"), package_cmake_config(package)},
        {fs::path("lib/cmake") / name / (name + "-config-version.cmake"), package_cmake_version()},
        {fs::path("lib/pkgconfig") / (name + ".pc"), package_pkg_config(package, LibraryKind::archive)},
        {fs::path("lib/pkgconfig") / (name + "-shared.pc"), package_pkg_config(package, LibraryKind::shared)},
        {fs::path("share") / name / "manifest.json", manifest_text(package, *networks)},
        {fs::path("README.md"),
         networks->empty() ? package_readme(package, *kernels) : network_readme(*networks, package, *kernels)},
    };
    for (const auto &[path, text] : texts) {
        if (Status s = write_text(folder / path, text); !s) return s;
    }
    return {};
}

// The table computes with these, and programs allocate what it answers. No address space holds more than this.
Status check_sizes(const PackagedKernel &kernel) {
    constexpr int64_t most_bytes = int64_t(1) << 47;
    const std::pair<const char *, int64_t> sizes[] = {
        {"packed_bytes", kernel.artifact.packed_bytes},
        {"prepared_bytes", kernel.artifact.prepared_bytes},
        {"workspace_bytes", kernel.workspace_bytes},
        {"workspace_bytes_per_thread", kernel.workspace_bytes_per_thread},
    };
    for (const auto &[name, bytes] : sizes) {
        if (bytes >= 0 && bytes <= most_bytes) continue;
        return unsupported(fmt::format("{}/{}: {} of {} cannot be; rebuild kiln with ./setup", kernel.workload.list,
                                       kernel.workload.name, name, bytes));
    }
    return {};
}

// Code and data of a program lie within 2 GiB of each other.
Status check_embedded(const Package &package) {
    constexpr int64_t most_bytes = int64_t(3) << 29;
    for (const PackagedNetwork &network : package.networks) {
        if (!network.embeds_weights || network.weights_bytes <= most_bytes) continue;
        return unsupported(
            fmt::format("{} MB of weights are too many for a library; `--weights file` writes them beside it",
                        network.weights_bytes / 1'000'000));
    }
    return {};
}

}  // namespace

Status check_package_folder(const std::string &folder, const std::string &name) {
    const Result<PackageFolder> staging = PackageFolder::create(folder, name);
    return staging.ok() ? Status() : Status(staging.error());
}

Status check_package_tools() {
    const Result<PackageTools> tools = PackageTools::find();
    return tools.ok() ? Status() : Status(tools.error());
}

Status write_package(const Package &given, const PackageParts &parts, const std::string &folder) {
    if (Status s = check_package_name(given.name); !s) return s;
    if (given.kernels.empty() && given.networks.empty()) return unsupported("a package needs at least one kernel");
    for (const PackagedKernel &kernel : given.kernels) {
        if (Status s = check_sizes(kernel); !s) return s;
    }
    if (Status s = check_embedded(given); !s) return s;
    Package package = given;
    package.kernels = in_table_order(std::move(package.kernels));
    Result<PackageFolder> staging = PackageFolder::create(folder, package.name);
    if (!staging) return staging.error();
    if (Status s = write_files(package, parts, staging->path()); !s) return s;
    return staging->commit();
}

}  // namespace kiln
