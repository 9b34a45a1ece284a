#include "tuner/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "tuner/manifest.h"
#include "tuner/package_folder.h"
#include "tuner/package_table.h"
#include "tuner/package_texts.h"
#include "tuner/package_tools.h"

namespace kiln {
namespace fs = std::filesystem;

namespace {

Status write_library(const Package &package, const PackageParts &parts, const fs::path &library) {
    const Result<PackageTools> tools = PackageTools::find();
    if (!tools) return tools.error();
    const fs::path work = fs::path(parts.work_folder) / "package";
    if (Status s = make_folders(work); !s) return s;
    const Result<std::string> source = table_source(package);
    if (!source) return source.error();
    if (Status s = write_text(work / "table.cpp", *source); !s) return s;
    if (Status s = tools->compile(work / "table.cpp", parts.header_folder, work / "table.o"); !s) return s;

    std::vector<std::string> inputs = {work / "table.o"};
    std::set<std::string> hashes;
    for (const PackagedKernel &kernel : package.kernels) {
        const std::string &hash = kernel.artifact.object_hash;
        if (!hashes.insert(hash).second) continue;
        inputs.push_back(work / (hash + ".o"));
        Status s = tools->prefix_symbols(kernel.artifact.object_path, symbol_prefix(hash), inputs.back());
        if (!s) return s;
    }
    inputs.push_back(parts.runtime_library);
    const fs::path object = work / (package.name + ".o");
    if (Status s = tools->merge(inputs, package.name + "_package", object); !s) return s;
    if (Status s = make_folders(library.parent_path()); !s) return s;
    return tools->archive(object, library);
}

Status write_files(const Package &package, const PackageParts &parts, const fs::path &folder) {
    const std::string &name = package.name;
    if (Status s = write_library(package, parts, folder / "lib" / ("lib" + name + ".a")); !s) return s;
    const Result<std::string> interface = read_text(fs::path(parts.header_folder) / "runtime/kiln.h");
    if (!interface) return interface.error();
    const std::pair<fs::path, std::string> texts[] = {
        {fs::path("include") / name / "kiln.h", *interface},
        {fs::path("include") / (name + ".h"), package_header(package)},
        {fs::path("lib/cmake") / name / (name + "-config.cmake"), package_cmake_config(package)},
        {fs::path("share") / name / "manifest.json", manifest_text(package)},
        {fs::path("README.md"), package_readme(package)},
    };
    for (const auto &[path, text] : texts) {
        if (Status s = write_text(folder / path, text); !s) return s;
    }
    return {};
}

int feature_count(const Target &target) {
    return static_cast<int>(std::count(target.halide.begin(), target.halide.end(), '-'));
}

bool same_conditions(const Measurement &a, const Measurement &b) {
    return a.machine == b.machine && a.threads == b.threads && a.cache == b.cache && a.metric == b.metric;
}

}  // namespace

Status check_package_name(const std::string &name) {
    const bool valid = !name.empty() && name.size() <= 64 && !(name[0] >= '0' && name[0] <= '9') &&
                       name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    if (valid) return {};
    return Error{ErrorCode::usage, fmt::format("`{}` cannot name a package; needs lower-case letters, digits and "
                                               "underscores, such as resnet50, because it names C functions",
                                               name)};
}

Status check_package_folder(const std::string &folder) {
    const Result<PackageFolder> staging = PackageFolder::create(folder);
    return staging.ok() ? Status() : Status(staging.error());
}

std::vector<PackagedKernel> in_table_order(std::vector<PackagedKernel> kernels) {
    std::stable_sort(kernels.begin(), kernels.end(), [](const PackagedKernel &a, const PackagedKernel &b) {
        const std::string key_a = key(a.workload.workload), key_b = key(b.workload.workload);
        return key_a != key_b ? key_a < key_b : feature_count(a.target) > feature_count(b.target);
    });
    for (auto first = kernels.begin(); first != kernels.end();) {
        const std::string workload = key(first->workload.workload);
        const Measurement *reference = first->measurement();
        bool comparable = reference != nullptr;
        auto last = first;
        for (; last != kernels.end() && key(last->workload.workload) == workload; ++last) {
            comparable = comparable && last->measurement() && same_conditions(*last->measurement(), *reference);
        }
        if (comparable) {
            std::stable_sort(first, last, [](const PackagedKernel &a, const PackagedKernel &b) {
                return a.measurement()->median < b.measurement()->median;
            });
        }
        first = last;
    }
    return kernels;
}

Status write_package(const Package &given, const PackageParts &parts, const std::string &folder) {
    if (Status s = check_package_name(given.name); !s) return s;
    if (given.kernels.empty()) return unsupported("a package needs at least one kernel");
    Package package = given;
    package.kernels = in_table_order(std::move(package.kernels));
    Result<PackageFolder> staging = PackageFolder::create(folder);
    if (!staging) return staging.error();
    if (Status s = write_files(package, parts, staging->path()); !s) return s;
    return staging->commit();
}

}  // namespace kiln
