# `ninja bundle`: a relocatable archive for a GPU machine that has no LLVM (tegula-bundle.tar.xz, under 60 MiB).
# The shared libraries are compressed once (minutes); tools, GPU tests and examples each time (seconds); the archive is their concatenation.
set(TEGULA_BUNDLE_DIR ${CMAKE_BINARY_DIR}/bundle CACHE PATH "Where the bundle's parts are kept; may be shared by build trees")
set(TEGULA_LIT_PACKAGE ${LLVM_TOOLS_BINARY_DIR}/../utils/lit/lit CACHE PATH "The Python package of lit")
set(TEGULA_BUNDLE_LIMIT_MIB 60 CACHE STRING "Largest archive that the bundle target accepts")

function(tegula_add_bundle)
  find_package(Python3 COMPONENTS Interpreter QUIET)
  get_property(tools GLOBAL PROPERTY TEGULA_BUNDLE_TOOLS)
  get_property(tests GLOBAL PROPERTY TEGULA_BUNDLE_GPU_TESTS)
  get_property(shared GLOBAL PROPERTY TEGULA_BUNDLE_LIBRARIES)
  if(NOT Python3_FOUND OR NOT tools)
    return()
  endif()
  set(script ${CMAKE_SOURCE_DIR}/cmake/bundle/make_bundle.py)
  set(libraries $<TARGET_FILE:LLVM> $<TARGET_FILE:MLIR>)
  set(libs ${TEGULA_BUNDLE_DIR}/tegula-libs.tar.xz)
  set(files ${CMAKE_BINARY_DIR}/bundle/tegula-files.tar.xz)
  set(bundle ${CMAKE_BINARY_DIR}/tegula-bundle.tar.xz)
  file(MAKE_DIRECTORY ${TEGULA_BUNDLE_DIR} ${CMAKE_BINARY_DIR}/bundle)

  add_custom_command(OUTPUT ${libs}
    COMMAND Python3::Interpreter ${script} libs --out ${libs} --cc ${CMAKE_C_COMPILER} ${libraries}
    DEPENDS ${libraries} COMMENT "compressing libLLVM and libMLIR (minutes, once)" VERBATIM)

  set(items)
  foreach(tool ${tools})
    list(APPEND items $<TARGET_FILE:${tool}>=bin/$<TARGET_FILE_NAME:${tool}>)
  endforeach()
  foreach(test ${tests})
    list(APPEND items $<TARGET_FILE:${test}>=test/unit/$<TARGET_FILE_NAME:${test}>)
  endforeach()
  foreach(library ${shared})
    list(APPEND items $<TARGET_FILE:${library}>=lib/$<TARGET_FILE_NAME:${library}>)
  endforeach()
  foreach(tool FileCheck not split-file)
    list(APPEND items ${LLVM_TOOLS_BINARY_DIR}/${tool}=bin/${tool})
  endforeach()
  list(APPEND items
    ${CMAKE_SOURCE_DIR}/cmake/bundle/run-gpu-tests=run-gpu-tests
    ${CMAKE_SOURCE_DIR}/cmake/bundle/lit=bin/lit
    ${CMAKE_SOURCE_DIR}/cmake/bundle/lit.site.cfg.py=test/lit.site.cfg.py
    ${CMAKE_SOURCE_DIR}/cmake/bundle/lit.unit.cfg.py=test/unit/lit.site.cfg.py
    ${CMAKE_SOURCE_DIR}/test/lit.cfg.py=test/lit.cfg.py
    ${CMAKE_SOURCE_DIR}/test/unit/lit.cfg.py=test/unit/lit.cfg.py
    ${CMAKE_SOURCE_DIR}/test/run-lit.py=test/run-lit.py
    ${CMAKE_SOURCE_DIR}/test/exec=test/exec
    ${CMAKE_SOURCE_DIR}/examples=examples
    ${CMAKE_SOURCE_DIR}/bench=bench
    ${CMAKE_BINARY_DIR}/bundle/commit=commit
    ${TEGULA_LIT_PACKAGE}=lit/lit)

  # Which sources this is, for the results of `tegula bench`.
  add_custom_target(bundle
    COMMAND git -C ${CMAKE_SOURCE_DIR} describe --always --dirty --exclude * > ${CMAKE_BINARY_DIR}/bundle/commit
    COMMAND Python3::Interpreter ${script} files --out ${files} --strip ${LLVM_TOOLS_BINARY_DIR}/llvm-strip ${items}
    COMMAND Python3::Interpreter ${script} join --out ${bundle} --limit-mib ${TEGULA_BUNDLE_LIMIT_MIB} ${libs} ${files}
    DEPENDS ${libs} ${tools} ${tests} ${shared} COMMENT "packing ${bundle}" VERBATIM COMMAND_EXPAND_LISTS)
endfunction()
