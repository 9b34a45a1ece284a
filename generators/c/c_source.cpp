#include "generators/c/c_source.h"

#include <algorithm>

#include "generators/c/c_function.h"

namespace kiln {

CSource c_source(const std::vector<CModule> &modules, const std::optional<CForm> &copying) {
    CSource source;
    CPrelude prelude;
    std::string functions;
    for (const CModule &made : modules) {
        for (const Halide::Internal::LoweredFunc &function : made.module.functions()) {
            if (function.linkage == Halide::LinkageType::Internal) continue;
            const CFunction printed = c_function(function, prelude, made.form);
            functions += "\n" + printed.text;
            source.workspace_bytes = std::max(source.workspace_bytes, printed.workspace_bytes);
        }
    }
    if (copying) functions += "\n" + c_copying_function("kiln_pack", *copying).text;
    source.text = "#include <stdint.h>\n\n" + prelude.text() + functions;
    return source;
}

}  // namespace kiln
