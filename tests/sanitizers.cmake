# Instrumented twins of the runtime and its tests, in every build: only what ships with kernels is compiled again.
#
# KILN_SANITIZERS: those that the compiler has, of `address` (with undefined behaviour) and `thread`. None in a build
# that is instrumented as a whole.
include(CheckCXXSourceCompiles)

set(KILN_SANITIZERS "")
if(NOT KILN_SANITIZE)
  foreach(sanitizer address thread)
    set(flags -fsanitize=${sanitizer})
    if(sanitizer STREQUAL address)
      set(flags -fsanitize=address,undefined)
    endif()
    set(KILN_FLAGS_OF_${sanitizer} ${flags} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    set(CMAKE_REQUIRED_FLAGS ${flags})
    check_cxx_source_compiles("int main() { return 0; }" KILN_HAS_SANITIZER_${sanitizer})
    unset(CMAKE_REQUIRED_FLAGS)
    if(KILN_HAS_SANITIZER_${sanitizer})
      list(APPEND KILN_SANITIZERS ${sanitizer})
    else()
      message(STATUS "no ${sanitizer} sanitizer: its tests of the runtime are left out")
    endif()
  endforeach()
endif()

function(kiln_sanitize target sanitizer)
  target_compile_options(${target} PRIVATE -g1 ${KILN_FLAGS_OF_${sanitizer}})
  target_link_options(${target} PRIVATE ${KILN_FLAGS_OF_${sanitizer}})
endfunction()

# kiln_kernel_runtime_address, kiln_kernel_runtime_thread
foreach(sanitizer IN LISTS KILN_SANITIZERS)
  add_kernel_runtime(kiln_kernel_runtime_${sanitizer})
  kiln_sanitize(kiln_kernel_runtime_${sanitizer} ${sanitizer})
  target_compile_options(kiln_kernel_runtime_${sanitizer} PRIVATE -O1)
endforeach()
