# ccache is used where it is installed, unless another launcher is set. Precompiled headers need the sloppiness: ccache
# compares the header's content, and cannot see the macros and times that went into it.
find_program(KILN_CCACHE ccache DOC "ccache, used where it is found")
mark_as_advanced(KILN_CCACHE)
foreach(language C CXX)
  if(KILN_CCACHE AND NOT CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${KILN_CCACHE})
  endif()
endforeach()
