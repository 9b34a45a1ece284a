#include "tuner/runner/loaded_package.h"

#include <dlfcn.h>

#include <filesystem>

namespace kiln {

void LoadedPackage::Close::operator()(void *library) const { dlclose(library); }

Result<LoadedPackage> LoadedPackage::load(const std::string &library) {
    const std::filesystem::path path = std::filesystem::absolute(library);
    LoadedPackage loaded;
    loaded.library_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!loaded.library_) return bad_input(dlerror());
    const std::string stem = path.stem();
    const std::string symbol = (stem.starts_with("lib") ? stem.substr(3) : stem) + "_package";
    const auto function = reinterpret_cast<const kiln_package *(*)()>(dlsym(loaded.library_.get(), symbol.c_str()));
    if (!function) return bad_input(library + ": does not export " + symbol);
    loaded.package_ = function();
    return loaded;
}

}  // namespace kiln
