// The tools of the system that make a package's library: C++ compiler, linker, objcopy and archiver of binutils.
#pragma once

#include <string>
#include <vector>

#include "workload/result.h"

namespace kiln {

class PackageTools {
public:
    // $CXX (a command, with arguments if need be), else c++, g++ or clang++. Errors: a tool is missing (environment).
    static Result<PackageTools> find();

    Status compile(const std::string &source, const std::string &include_folder, const std::string &object) const;
    // Gives every global symbol that the object defines a prefix.
    Status prefix_symbols(const std::string &object, const std::string &prefix, const std::string &result) const;
    // One object of several objects and of what they need of an archive, in which only `symbol` is global.
    Status merge(const std::vector<std::string> &inputs, const std::string &symbol, const std::string &result) const;
    Status archive(const std::string &object, const std::string &library) const;
    // A library for dlopen or the dynamic linker, which finds it by its file's name; it needs the C library alone.
    Status link_shared(const std::string &object, const std::string &library) const;

private:
    std::vector<std::string> compiler_;
    std::string linker_, objcopy_, archiver_;
};

}  // namespace kiln
