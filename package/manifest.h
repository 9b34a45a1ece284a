// The manifest of a package: where each of its kernels comes from. Versioned JSON, described in docs/package.md. Pure.
#pragma once

#include <string>
#include <string_view>

#include "package/package.h"

namespace kiln {

inline constexpr std::string_view manifest_format = "package/1";

std::string manifest_text(const Package &package);

// Whether a file's text is the manifest of a package, of this or a later version.
bool is_manifest(std::string_view text);

}  // namespace kiln
