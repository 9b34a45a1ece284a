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
    const std::string name = stem.starts_with("lib") ? stem.substr(3) : stem, symbol = name + "_package";
    const auto find = [&](const std::string &function) { return dlsym(loaded.library_.get(), function.c_str()); };
    const auto function = reinterpret_cast<const kiln_package *(*)()>(find(symbol));
    if (!function) return bad_input(library + ": does not export " + symbol);
    loaded.package_ = function();
    const auto network = reinterpret_cast<const kiln_network *(*)()>(find(name + "_network"));
    if (network) loaded.network_ = network();
    return loaded;
}

}  // namespace kiln
