// What an ELF relocatable object contains, as far as kiln must know it: a hash that names the kernel, and the symbols
// it defines and needs.
#pragma once

#include <string>
#include <vector>

#include "workload/result.h"

namespace kiln {

// 32 hex digits (XXH3, 128 bits) over the loaded sections in order: code, read-only and writable data, and relocations
// by what they refer to. Where the entry points of runtime/kernel_abi.h lie counts; all other names of symbols,
// sections and files, debug information and the order of the symbol table do not. Frozen: databases keep these hashes.
Result<std::string> object_hash(const std::string &path);

// Global symbols, sorted.
Result<std::vector<std::string>> defined_symbols(const std::string &path);
Result<std::vector<std::string>> undefined_symbols(const std::string &path);

}  // namespace kiln
