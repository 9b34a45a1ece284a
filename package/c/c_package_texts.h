// The files of a package for a soft core, but for its kernels: plain functions of what is packaged.
#pragma once

#include <string>
#include <vector>

#include "package/c/c_layer.h"

namespace kiln {

std::string c_header(const Package &package, const std::vector<CLayer> &layers);
std::string c_table(const Package &package, const std::vector<CLayer> &layers);  // NAME_kernels[]
std::string c_readme(const Package &package, const std::vector<CLayer> &layers);

// A C file of a package: its stem in src/, and the flags that it is compiled with.
struct CFile {
    std::string stem;
    std::vector<std::string> flags;
};
std::vector<CFile> c_files_of(const std::vector<CLayer> &layers);
// What the manifest lists (Package::files): these, `others` and the files of build systems.
std::vector<std::string> listed_files_of(const std::vector<CFile> &sources, std::vector<std::string> others = {});
std::string c_makefile(const std::string &package, const std::vector<CFile> &files);
std::string c_cmake(const std::string &package, const std::vector<CFile> &files);

// Of a README, behind the table of the layers: what several of them share. Empty where that is nothing.
std::string shared_code_table(const Package &package);

// How a kernel was chosen: the trial, or that it is the default.
std::string chosen_text(const PackagedKernel &kernel);

}  // namespace kiln
