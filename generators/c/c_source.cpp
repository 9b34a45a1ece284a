#include "generators/c/c_source.h"

#include <algorithm>

#include "generators/c/c_function.h"

namespace kiln {

CSource c_source(const std::vector<Halide::Module> &modules) {
    CSource source;
    CPrelude prelude;
    std::string functions;
    for (const Halide::Module &module : modules) {
        for (const Halide::Internal::LoweredFunc &function : module.functions()) {
            if (function.linkage == Halide::LinkageType::Internal) continue;
            const CFunction printed = c_function(function, prelude);
            functions += "\n" + printed.text;
            source.workspace_bytes = std::max(source.workspace_bytes, printed.workspace_bytes);
        }
    }
    source.text = "#include <stdint.h>\n\n" + prelude.text() + functions;
    return source;
}

}  // namespace kiln
