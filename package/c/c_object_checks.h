// What is promised of every C file of a package is checked when it is built: it compiles without a warning to the code that was
// measured, needs nothing but memcpy and memset, and its stack is small.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "package/c/c_layer.h"
#include "workload/result.h"

namespace kiln {

struct CObjectFacts {
    int64_t text_bytes = 0, rodata_bytes = 0;  // without the functions that pack weights
    int64_t stack_bytes = 0;                   // that a call can use at most
};

// A file that is no kernel.
struct COwnFile {
    std::string name, source_file;
    std::vector<std::string> flags;
};
// Compiles it without a warning. What it needs of the other files, and its memory, are its own affair.
Result<CObjectFacts> compile_own_object(const COwnFile &file, const std::string &folder, const std::string &object);

// `folder`: the package, with its header and this layer's source. `object`: where the compiler writes. Errors name the layer. The
// facts of a layer that shares its code are those of what is not shared.
Result<CObjectFacts> check_c_object(const CLayer &layer, const std::string &folder, const std::string &object);
Result<CObjectFacts> check_c_object(const CSharedCode &code, const std::string &folder, const std::string &object);

}  // namespace kiln
