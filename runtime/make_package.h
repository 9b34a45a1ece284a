// A package over a table of kernels. The source that `kiln build` generates ends with one.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/dispatch.h"
#include "runtime/kernel_call.h"
#include "runtime/kernel_table.h"

namespace kiln {

// A row made at run time, in the caller's memory: `kiln_package::fallback` of a package that was built with --fallback
// (runtime/fallback/fallback.h). Nothing else refers to its code, so the linker leaves it out of other packages.
kiln_status make_fallback(const kiln_package *, const kiln_descriptor *, kiln_fallback *, size_t memory_bytes,
                          const kiln_kernel **);

// A package says this of itself.
struct PackageTexts {
    const char *name, *toolchain, *manifest;
};

// `cpu_features`: that of runtime/dispatch.h which the rows need.
constexpr kiln_package make_package(const PackageTexts &texts, const KernelTable *table,
                                    decltype(kiln_package::fallback) fallback = nullptr,
                                    decltype(kiln_package::cpu_features) cpu_features = enabled_cpu_features) {
    return {sizeof(kiln_package),
            KILN_INTERFACE_VERSION,
            0,
            texts.name,
            texts.toolchain,
            table,
            cpu_features,
            find_kernel,
            find_kernel_by_key,
            kernel_count,
            kernel_at,
            kernel_info,
            kernel_workspace_bytes,
            pack_weights,
            prepare_input,
            run_kernel,
            create_pool,
            destroy_pool,
            texts.manifest,
            fallback};
}

}  // namespace kiln
