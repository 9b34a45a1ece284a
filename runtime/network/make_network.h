// A network over a table of steps. The source that `kiln build` generates ends with one.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/network/network_call.h"
#include "runtime/network/network_table.h"

namespace kiln {

constexpr kiln_network make_network(const kiln_package *package, const kiln_network_info *info,
                                    const NetworkTable *table) {
    return {sizeof(kiln_network),
            KILN_INTERFACE_VERSION,
            0,
            package,
            info,
            table,
            network_workspace_bytes,
            map_weights,
            unmap_weights,
            bind_network,
            bound_variant,
            run_network,
            load_weights};
}

}  // namespace kiln
