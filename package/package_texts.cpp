#include "package/package_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "package/kernel_descriptor.h"

namespace kiln {
namespace {

void replace(std::string *text, std::string_view place, const std::string &value) {
    for (size_t at = 0; (at = text->find(place, at)) != std::string::npos; at += value.size()) {
        text->replace(at, place.size(), value);
    }
}

constexpr const char *header =
    R"(/* Kernels made by `kiln build`. README.md shows the calls, @NAME@/kiln.h documents them. */
#ifndef KILN_PACKAGE_@UPPER@_H
#define KILN_PACKAGE_@UPPER@_H

#include "@NAME@/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

const kiln_package *@NAME@_package(void);

#ifdef __cplusplus
}
#endif

#endif
)";

constexpr const char *cmake_config =
    R"(# find_package(@NAME@) defines two libraries: @NAME@::@NAME@, which becomes part of the program, and
# @NAME@::shared. Relative to this file, so the folder may be moved.
include(CMakeFindDependencyMacro)
find_dependency(Threads)

get_filename_component(_@NAME@_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET @NAME@::@NAME@)
  add_library(@NAME@::@NAME@ STATIC IMPORTED)
  set_target_properties(
    @NAME@::@NAME@ PROPERTIES IMPORTED_LOCATION "${_@NAME@_prefix}/lib/lib@NAME@.a"
                              INTERFACE_INCLUDE_DIRECTORIES "${_@NAME@_prefix}/include"
                              INTERFACE_LINK_LIBRARIES "Threads::Threads;m")
  add_library(@NAME@::shared SHARED IMPORTED)
  set_target_properties(
    @NAME@::shared PROPERTIES IMPORTED_LOCATION "${_@NAME@_prefix}/lib/lib@NAME@.so"
                              IMPORTED_SONAME "lib@NAME@.so"
                              INTERFACE_INCLUDE_DIRECTORIES "${_@NAME@_prefix}/include")
endif()
unset(_@NAME@_prefix)
)";

// The version is that of the interface: a package that offers more functions serves programs that need fewer.
constexpr const char *cmake_version = R"(set(PACKAGE_VERSION "@VERSION@")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
if(NOT CMAKE_SIZEOF_VOID_P STREQUAL "8" AND NOT CMAKE_SIZEOF_VOID_P STREQUAL "")
  set(PACKAGE_VERSION_UNSUITABLE TRUE)
endif()
)";

constexpr const char *pkg_config = R"(prefix=${pcfiledir}/../..
includedir=${prefix}/include
libdir=${prefix}/lib

Name: @NAME@
Description: Convolution kernels, made by kiln build
Version: @VERSION@
Cflags: -I${includedir}
Libs: @LIBS@
)";

constexpr const char *readme = R"(# @NAME@

Convolution kernels, made by `kiln build`. The library needs the C library and pthreads, nothing else.

## Link

CMake: `find_package(@NAME@ REQUIRED)` with this folder in `CMAKE_PREFIX_PATH`, then
`target_link_libraries(your_program PRIVATE @NAME@::@NAME@)`; `@NAME@::shared` is the shared library.

pkg-config, with `lib/pkgconfig` in `PKG_CONFIG_PATH`: `cc program.c $(pkg-config --cflags --libs @NAME@)`, or
`@NAME@-shared`.

By hand: `cc program.c -Iinclude lib/lib@NAME@.a -lm -pthread`.

C++: `#include <@NAME@/kiln.hpp>` after `<@NAME@.h>`. Other languages load `lib/lib@NAME@.so`, whose one symbol is
`@NAME@_package`.

## Call

```c
#include <@NAME@.h>

const kiln_kernel *kernel;
kiln_status status = kiln_find_key(@NAME@_package(), "@KEY@", &kernel);
if (status.code != KILN_OK) { puts(status.detail); return 1; }

kiln_arguments arguments;
kiln_arguments_init(&arguments);
@ARGUMENTS@arguments.packed_bytes = kiln_info(kernel)->packed_bytes;
arguments.packed = aligned_alloc(64, (arguments.packed_bytes + 63) / 64 * 64);
arguments.workspace_bytes = kiln_workspace_bytes(kernel, 1);
arguments.workspace = malloc(arguments.workspace_bytes);

kiln_pack(kernel, &arguments); /* once, when the weights are loaded */
kiln_run(kernel, &arguments);  /* as often as you like */
```

Every call answers a `kiln_status`; a refused call has not touched any memory. `kiln_find` takes a descriptor instead of a
key. For more threads, set `arguments.parallel` to a pool of `kiln_pool_create`, or to your own (`kiln_parallel`).
`include/@NAME@/kiln.h` documents everything.

@FALLBACK@
## Kernels

`share/@NAME@/manifest.json` has all that is known about them.

A CPU gets the first kernel of a workload that it can run.

| layer | key | target | chosen | median us |
| --- | --- | --- | --- | ---: |
)";

constexpr const char *with_fallback =
    R"(Convolutions that are not listed below, of any sizes, are computed too (f32, f16, bf16; slower than tuned kernels):

```c
static kiln_fallback memory; /* one for each kernel, for as long as it is used */
status = kiln_find_or_fallback(@NAME@_package(), &descriptor, &memory, &kernel);
```
)";
constexpr const char *without_fallback =
    "Only the workloads listed below are computed; `kiln build --fallback` adds a kernel for any sizes.\n";

// The statements that set the tensors of a call.
std::string argument_lines(const Workload &workload) {
    std::string lines;
    const auto add = [&](const char *role, const OperandShape &shape) {
        if (shape.rank == 0) return;
        std::string extents;
        for (int d = 0; d < shape.rank; d++) extents += (d ? ", " : "") + std::to_string(shape.shape[d]);
        constexpr const char *dtypes[] = {"", "KILN_F32", "KILN_F16", "KILN_BF16", "KILN_I8", "KILN_I32"};
        lines += fmt::format("arguments.{0} = kiln_tensor_dense(your_{0}, {1}, {2}, (const int64_t[]){{{3}}});\n", role,
                             dtypes[shape.dtype], shape.rank, extents);
    };
    const CallShapes shapes = call_shapes(workload);
    constexpr const char *roles[tensor_operands] = {"input", "weights", "bias", "addend", "output"};
    for (int i = 0; i < tensor_operands; i++) add(roles[i], shapes.operands[i]);
    return lines;
}

// Names come from files of other people; a table cell ends at a bar or a line's end.
std::string cell(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '|' || c == '\n' || c == '\r'; }, ' ');
    return text;
}

}  // namespace

std::string package_header(const Package &package) {
    std::string text = header, upper = package.name;
    std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
    replace(&text, "@UPPER@", upper);
    replace(&text, "@NAME@", package.name);
    return text;
}

std::string package_cmake_config(const Package &package) {
    std::string text = cmake_config;
    replace(&text, "@NAME@", package.name);
    return text;
}

std::string package_cmake_version() {
    std::string text = cmake_version;
    replace(&text, "@VERSION@", std::to_string(KILN_INTERFACE_VERSION));
    return text;
}

std::string package_pkg_config(const Package &package, LibraryKind kind) {
    std::string text = pkg_config;
    replace(&text, "@LIBS@",
            kind == LibraryKind::archive ? "${libdir}/lib@NAME@.a -lm -pthread" : "-L${libdir} -l@NAME@");
    replace(&text, "@NAME@", package.name);
    replace(&text, "@VERSION@", std::to_string(KILN_INTERFACE_VERSION));
    return text;
}

std::string package_readme(const Package &package) {
    std::string text = readme;
    replace(&text, "@FALLBACK@", package.fallback ? with_fallback : without_fallback);
    replace(&text, "@NAME@", package.name);
    replace(&text, "@KEY@", key(package.kernels.front().workload.workload));
    replace(&text, "@ARGUMENTS@", argument_lines(package.kernels.front().workload.workload));
    for (const PackagedKernel &kernel : package.kernels) {
        const NamedWorkload &w = kernel.workload;
        text += fmt::format(
            "| {} | `{}` | {} | {} | {} |\n", cell(w.list.empty() ? w.name : w.list + "/" + w.name), key(w.workload),
            kernel.target.halide, kernel.best ? "tuned" : "default",
            kernel.measurement() ? fmt::format("{:.1f}", kernel.measurement()->median * 1e-3) : std::string("-"));
    }
    return text;
}

}  // namespace kiln
