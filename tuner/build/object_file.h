// What an ELF relocatable object contains, as far as kiln must know it: a hash that names the kernel, the symbols it defines
// and needs, and whether it has instructions that its target lacks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/result.h"
#include "workload/target.h"

namespace kiln {

// 32 hex digits (XXH3, 128 bits) over the loaded sections in order: code, read-only and writable data, and relocations
// by what they refer to. Where the entry points of runtime/kernel_abi.h lie counts; all other names of symbols,
// sections and files, debug information and the order of the symbol table do not. Frozen: databases keep these hashes.
Result<std::string> object_hash(const std::string &path);

// Global symbols, sorted.
Result<std::vector<std::string>> defined_symbols(const std::string &path);
Result<std::vector<std::string>> undefined_symbols(const std::string &path);

// Whether objects for a target are compiled for CPUs that have more instructions than it says: Halide compiles VNNI for those of AMD
// (avx512_zen4), also where others are meant (avx512_icelake, runtime/cpu_features.h). What only those have would end a program
// elsewhere.
bool needs_check_of_instructions(const Target &target);

// The first instruction in what `objdump -d --no-show-raw-insn` prints that avx512_icelake does not have.
std::optional<std::string> foreign_instruction(std::string_view disassembly);

}  // namespace kiln
