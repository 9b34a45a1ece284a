# How the sources of a target are compiled: how far they are optimized, and which headers are parsed once for all of them.
#
# kiln_compile_as(TARGET KIND [SANITIZER]), where KIND is
#   values   values, spaces, search, mathematics: the standard library only, optimized as the build type says
#   passes   what reads and rewrites networks: the standard library only; a network takes milliseconds, so -O1 will do
#   process  what reads, writes and starts processes, with fmt; it waits for others, so -O1 will do
#   command  a process with a command line
#   halide   what describes a computation to Halide, whose compiler takes the time; -O1
#   test     tests, with GoogleTest: each runs once, so parsing is most of their cost; -O0
#
# nlohmann/json.hpp is in none of them: its inline functions make GCC 12 instantiate the whole parser in every source that has it
# precompiled, half a second each, and one source in ten uses JSON.
#
# An include still says what a file needs: tools/check_layers.py reads the text, and a build without precompiled headers
# (CMAKE_DISABLE_PRECOMPILE_HEADERS) must pass.
set(
  KILN_HEADERS_values <algorithm> <array> <charconv> <cmath> <cstdint> <filesystem> <functional> <map> <numeric>
    <optional> <random> <set> <string> <string_view> <tuple> <variant> <vector>
)
set(KILN_HEADERS_passes ${KILN_HEADERS_values})
set(KILN_HEADERS_process ${KILN_HEADERS_values} <fmt/format.h>)
set(KILN_HEADERS_command ${KILN_HEADERS_process} <CLI/CLI.hpp>)
set(KILN_HEADERS_halide <Halide.h>)
set(KILN_HEADERS_test ${KILN_HEADERS_process} <gtest/gtest.h>)

set(KILN_LIBRARIES_values "")
set(KILN_LIBRARIES_passes "")
set(KILN_LIBRARIES_process fmt::fmt)
set(KILN_LIBRARIES_command ${KILN_LIBRARIES_process} CLI11::CLI11)
set(KILN_LIBRARIES_halide Halide::Halide)
set(KILN_LIBRARIES_test ${KILN_LIBRARIES_process} GTest::gtest)

# A debug build optimizes as its flags say.
set(KILN_OPTIMIZATION_values "")
foreach(kind passes process command halide)
  set(KILN_OPTIMIZATION_${kind} $<$<CONFIG:Release>:-O1>)
endforeach()
set(KILN_OPTIMIZATION_test -O0)

# GCC 12 warns falsely of what it inlines: of memcpy in concatenations of std::string where it optimizes fully (GCC bug
# 105651), and of strings in a std::variant that holds something else. Each is left out only for the kinds where it occurs.
set(KILN_WARNINGS_values -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
set(KILN_WARNINGS_passes -Wno-maybe-uninitialized)
set(KILN_WARNINGS_process -Wno-maybe-uninitialized)
set(KILN_WARNINGS_command -Wno-maybe-uninitialized)
set(KILN_WARNINGS_halide "")
set(KILN_WARNINGS_test "")

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "// Nothing but precompiled headers.\n")

# kiln_precompiled(OUT KIND [SANITIZER]): the target whose precompiled header these share; made for the first of them.
function(kiln_precompiled out kind)
  string(JOIN _ precompiled kiln_precompiled ${kind} ${ARGN})
  set(${out} ${precompiled} PARENT_SCOPE)
  if(TARGET ${precompiled})
    return()
  endif()
  add_library(${precompiled} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(${precompiled} PRIVATE kiln_options ${KILN_LIBRARIES_${kind}})
  target_compile_options(${precompiled} PRIVATE ${KILN_OPTIMIZATION_${kind}} ${KILN_WARNINGS_${kind}})
  foreach(sanitizer IN LISTS ARGN)
    kiln_sanitize(${precompiled} ${sanitizer})
  endforeach()
  target_precompile_headers(${precompiled} PRIVATE ${KILN_HEADERS_${kind}})
endfunction()

function(kiln_compile_as target kind)
  kiln_precompiled(precompiled ${kind} ${ARGN})
  # An executable must be compiled as what the header was compiled for.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  foreach(library IN LISTS KILN_LIBRARIES_${kind})
    target_link_libraries(${target} PRIVATE $<COMPILE_ONLY:${library}>) # the macros that the header was compiled with
  endforeach()
  target_compile_options(${target} PRIVATE ${KILN_OPTIMIZATION_${kind}} ${KILN_WARNINGS_${kind}})
  foreach(sanitizer IN LISTS ARGN)
    kiln_sanitize(${target} ${sanitizer})
  endforeach()
  target_precompile_headers(${target} REUSE_FROM ${precompiled})
endfunction()

# kiln_compile_alone(SOURCES...): sources that call things of their own as others of their target do. The others are compiled
# several at a time (CMAKE_UNITY_BUILD).
function(kiln_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# kiln_optimize(SOURCES...): loops that take their time, or whose time is measured, are fast in every build.
function(kiln_optimize)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O3 SKIP_PRECOMPILE_HEADERS ON)
endfunction()
