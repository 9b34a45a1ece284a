#include "tuner/build/builder.h"

#include <fmt/format.h>

namespace kiln {

Result<std::string> object_path(const Artifact &artifact) {
    if (const auto *object = std::get_if<ObjectFile>(&artifact.code)) return object->path;
    const CSources &sources = std::get<CSources>(artifact.code);
    return unsupported(fmt::format("the kernel is C source for {} ({}); only objects can be used here",
                                   sources.compiler, sources.paths.empty() ? "no file" : sources.paths.front()));
}

}  // namespace kiln
