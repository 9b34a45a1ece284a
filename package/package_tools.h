// The tools of the system that make a package's library: the C++ compiler, and linker, objcopy and archiver of
// binutils.
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
    // Makes an object with the bytes of a file as read-only data, which `symbol` names, aligned to 64 bytes.
    Status embed(const std::string &file, const std::string &symbol, const std::string &object) const;
    // Makes one object from several objects and the parts of an archive that they need. Only `symbols` stay global.
    Status merge(const std::vector<std::string> &inputs, std::vector<std::string> symbols,
                 const std::string &result) const;
    Status archive(const std::string &object, const std::string &library) const;
    // Makes a library for dlopen or the dynamic linker, which find it by its file's name. It needs the C library alone.
    Status link_shared(const std::string &object, const std::string &library) const;

private:
    std::vector<std::string> compiler_;
    std::string linker_, objcopy_, archiver_;
};

}  // namespace kiln
