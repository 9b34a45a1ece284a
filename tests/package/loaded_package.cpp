#include "tests/package/loaded_package.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

namespace kiln {

Result<LoadedPackage> LoadedPackage::create(const Package &package, const PackageParts &parts,
                                            const std::string &flags) {
    if (!flags.empty()) setenv("CXX", ("c++ " + flags).c_str(), 1);
    const std::string folder = parts.work_folder + "/" + package.name;
    if (Status s = write_package(package, parts, folder); !s) return s.error();
    const std::string shared = folder + "/lib/lib" + package.name + ".so";
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
