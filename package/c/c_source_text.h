// The C file of a kernel: as it was measured, its functions renamed; of a layer also one that packs what NAME_constants has.
#pragma once

#include <string>

#include "package/c/c_layer.h"

namespace kiln {

// `kernel`: the C source that the generator made; of a layer that shares its code, that of the function that packs. A layer of a
// network has no function that packs.
std::string c_source_text(const CLayer &layer, const std::string &package, const std::string &kernel);

// The C file of code that several layers share.
std::string c_shared_text(const CSharedCode &code, const std::string &package, const std::string &kernel);

// `text` with every identifier `from` replaced.
std::string with_identifier(const std::string &text, const std::string &from, const std::string &to);

}  // namespace kiln
