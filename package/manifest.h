// The manifest of a package says where each of its kernels comes from. It is versioned JSON, which docs/package.md
// describes. Pure.
#pragma once

#include <string>
#include <string_view>

#include "package/described_network.h"
#include "package/package.h"

namespace kiln {

inline constexpr std::string_view manifest_format = "package/1";

std::string manifest_text(const Package &package, const DescribedNetworks &networks = {});

}  // namespace kiln
