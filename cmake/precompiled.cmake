# Headers that are parsed once for many sources. An include still says what a file needs: tools/check_layers.py reads the
# text, and a build without precompiled headers (CMAKE_DISABLE_PRECOMPILE_HEADERS) must pass.
#
# kiln_precompile(TARGET json|test): `json` is JSON and fmt, `test` GoogleTest too.
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "// Nothing but precompiled headers.\n")
foreach(kind json test)
  add_library(kiln_precompiled_${kind} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled.cpp)
  target_precompile_headers(
    kiln_precompiled_${kind} PRIVATE <algorithm> <filesystem> <functional> <map> <optional> <random> <string> <vector>
    <fmt/format.h> <nlohmann/json.hpp> $<$<STREQUAL:${kind},test>:<gtest/gtest.h$<ANGLE-R>>)
  target_link_libraries(kiln_precompiled_${kind} PRIVATE kiln_options fmt::fmt nlohmann_json::nlohmann_json
                                                         $<$<STREQUAL:${kind},test>:GTest::gtest>)
endforeach()

function(kiln_precompile target kind)
  # An executable must be compiled as what the header was compiled for.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM kiln_precompiled_${kind})
endfunction()
