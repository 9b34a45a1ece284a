#include "tests/package/loaded_package.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

#include "tuner/child_process.h"

namespace kiln {
namespace {

Status link_shared(const std::string &archive, const std::string &shared, const std::vector<std::string> &flags) {
    ChildRequest request;
    request.arguments = {"/usr/bin/env", "c++", "-shared", "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive",
                         "-pthread",     "-o",  shared};
    request.arguments.insert(request.arguments.end(), flags.begin(), flags.end());
    const Result<ChildResult> linked = run_child(request);
    if (!linked) return linked.error();
    if (linked->end == ChildResult::End::exited && linked->code == 0) return {};
    return environment_error("c++ -shared: " + describe(*linked) + "\n" + linked->error_output);
}

}  // namespace

Result<LoadedPackage> LoadedPackage::create(const Package &package, const PackageParts &parts,
                                            const std::vector<std::string> &flags) {
    const std::string folder = parts.work_folder + "/" + package.name;
    if (Status s = write_package(package, parts, folder); !s) return s.error();
    const std::string archive = folder + "/lib/lib" + package.name + ".a", shared = folder + ".so";
    if (Status s = link_shared(archive, shared, flags); !s) return s.error();
    void *library = dlopen(shared.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return environment_error(dlerror());
    const std::string name = package.name + "_package";
    const auto function = reinterpret_cast<const kiln_package *(*)()>(dlsym(library, name.c_str()));
    if (function == nullptr) {
        dlclose(library);
        return environment_error(shared + " does not export " + name);
    }
    return LoadedPackage(library, function());
}

LoadedPackage::LoadedPackage(LoadedPackage &&other) noexcept
    : library_(std::exchange(other.library_, nullptr)), package_(std::exchange(other.package_, nullptr)) {}

LoadedPackage::~LoadedPackage() {
    if (library_ != nullptr) dlclose(library_);
}

}  // namespace kiln
