# What makes builds quick: ccache (also with the precompiled header) and lld, used wherever they are found, with or without a preset.
find_program(TEGULA_CCACHE ccache)
if(TEGULA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The settings that ccache wants for precompiled headers; with them the launcher needs nothing from the caller's environment.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${TEGULA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

find_program(TEGULA_LLD NAMES ld.lld-22)
if(TEGULA_LLD AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_link_options(-fuse-ld=lld-22 -Wl,--build-id)
endif()

# Executables and libraries alike are compiled with -fPIC: a precompiled header is refused where the two differ.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE ${CMAKE_CXX_COMPILE_OPTIONS_PIC})

find_program(TEGULA_PTXAS ptxas HINTS ENV CUDA_HOME ENV CUDA_PATH PATH_SUFFIXES bin PATHS /usr/local/cuda/bin)
if(NOT TEGULA_PTXAS)
  message(STATUS "ptxas was not found: cubins and the tests that need them are left out (./setup.sh says more)")
endif()
