# The words in which every CMakeLists.txt under src/, tests/ and bench/ is written.
include(StrataLayers)
set(STRATA_CORE_LAYER ${STRATA_LAYER_sched})  # base, model and sched are the core

# One folder = one library.
#
#   strata_module(NAME <folder>
#     [LAYER <n>]          checked against cmake/layers.txt
#     [SOURCES <cc>...]    none: a header-only module
#     HEADERS <h>...       each must compile on its own: tools/compile_alone.py
#     [DEPS <module>...]   modules of lower layers
#     [SAME_LAYER <module>...]  modules of the same layer, allowed in cmake/layers.txt
#     [LIBS <target>...]   third-party libraries
#     [THREADED]           it uses threads: its tests also run under the thread sanitizer in CI, label threaded
#     [FUZZED]             fuzzers are guided by the branches of this module in preset asan, too
#     [TESTS <cc>...]      one gtest program, strata_<folder>_test
#     [TEST_LIBS <target>...])
#
# Configure fails when a dependency points sideways or up, so the arrows in ARCHITECTURE.md cannot rot.
function(strata_module)
  cmake_parse_arguments(M "THREADED;FUZZED" "NAME;LAYER" "SOURCES;HEADERS;DEPS;SAME_LAYER;LIBS;TESTS;TEST_LIBS" ${ARGN})
  strata_check_unparsed("strata_module(${M_NAME})" "${M_UNPARSED_ARGUMENTS}")
  if(NOT DEFINED STRATA_LAYER_${M_NAME})
    message(FATAL_ERROR "layering: module '${M_NAME}' is not in cmake/layers.txt")
  endif()
  set(layer ${STRATA_LAYER_${M_NAME}})
  if(DEFINED M_LAYER AND NOT M_LAYER EQUAL layer)
    message(FATAL_ERROR "layering: ${M_NAME} is of layer ${layer} (cmake/layers.txt), not ${M_LAYER}")
  endif()
  foreach(dep IN LISTS M_DEPS)
    if(DEFINED STRATA_LAYER_${dep} AND NOT STRATA_LAYER_${dep} LESS layer)
      message(FATAL_ERROR "layering: ${M_NAME} (layer ${layer}) may not use ${dep} (layer ${STRATA_LAYER_${dep}})")
    endif()
    strata_check_exists(${M_NAME} ${dep})
  endforeach()
  foreach(dep IN LISTS M_SAME_LAYER)
    if(NOT dep IN_LIST STRATA_SAME_LAYER_${M_NAME})
      message(FATAL_ERROR "layering: cmake/layers.txt does not allow ${M_NAME} to use ${dep}")
    endif()
    strata_check_exists(${M_NAME} ${dep})
  endforeach()

  if(M_SOURCES)
    add_library(strata_${M_NAME} STATIC ${M_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(strata_${M_NAME} PRIVATE strata_warnings)
    if(M_FUZZED OR STRATA_FUZZ STREQUAL "everywhere")
      target_link_libraries(strata_${M_NAME} PRIVATE strata_coverage)
    endif()
    if(layer GREATER STRATA_CORE_LAYER)
      target_compile_options(strata_${M_NAME} PRIVATE ${STRATA_SHELL_OPTIONS})
    endif()
  else()
    add_library(strata_${M_NAME} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_sources(strata_${M_NAME} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${M_HEADERS})
  list(TRANSFORM M_DEPS PREPEND strata_)
  list(TRANSFORM M_SAME_LAYER PREPEND strata_)
  target_link_libraries(strata_${M_NAME} ${scope} ${M_DEPS} ${M_SAME_LAYER} ${M_LIBS})
  if(M_TESTS)
    set(labels unit)
    if(M_THREADED)
      list(APPEND labels threaded)
    endif()
    strata_test(NAME ${M_NAME} LABEL ${labels} SOURCES ${M_TESTS} DEPS ${M_NAME} LIBS ${M_TEST_LIBS})
  endif()
endfunction()

# A program for users, left as ${PROJECT_BINARY_DIR}/<name>.
#
#   strata_program(NAME <name> SOURCES <cc>... DEPS <module>... [LIBS <target>...])
function(strata_program)
  cmake_parse_arguments(P "" "NAME" "SOURCES;DEPS;LIBS" ${ARGN})
  strata_check_unparsed("strata_program(${P_NAME})" "${P_UNPARSED_ARGUMENTS}")
  add_executable(${P_NAME} ${P_SOURCES})
  list(TRANSFORM P_DEPS PREPEND strata_)
  target_link_libraries(${P_NAME} PRIVATE ${P_DEPS} ${P_LIBS} strata_warnings)
  target_compile_options(${P_NAME} PRIVATE ${STRATA_SHELL_OPTIONS} ${STRATA_PROGRAM_OPTIONS})
  # A program needs at run time only the libraries whose functions it calls.
  target_link_options(${P_NAME} PRIVATE -Wl,--as-needed)
  set_target_properties(${P_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  add_dependencies(strata_programs ${P_NAME})
endfunction()

# A gtest program, strata_<name>_test, and one ctest of the same name without prefix: a process per
# TEST would cost more than the tests do.
#
#   strata_test(NAME <name> LABEL unit|threaded|property|scenario|integration... SOURCES <cc>...
#               DEPS <module>... [LIBS <target>...] [DEFINES <NAME=value>...] [TIMEOUT <seconds>])
function(strata_test)
  cmake_parse_arguments(T "" "NAME;TIMEOUT" "LABEL;SOURCES;DEPS;LIBS;DEFINES" ${ARGN})
  strata_check_unparsed("strata_test(${T_NAME})" "${T_UNPARSED_ARGUMENTS}")
  if(NOT BUILD_TESTING)
    return()
  endif()
  set(target strata_${T_NAME}_test)
  add_executable(${target} ${T_SOURCES})
  list(TRANSFORM T_DEPS PREPEND strata_)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})  # "tests/..." for shared helpers
  target_link_libraries(${target} PRIVATE ${T_DEPS} ${T_LIBS} GTest::gmock_main strata_warnings)
  target_compile_definitions(${target} PRIVATE ${T_DEFINES})
  # A picture names only the fields that matter; g++ 12 counts designated initializers as forgetful.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-missing-field-initializers> ${STRATA_TEST_OPTIONS})
  add_test(NAME ${T_NAME} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 1200)  # for what hangs: a sanitizer on a slow machine takes thirty times as long
  endif()
  set_tests_properties(${T_NAME} PROPERTIES LABELS "${T_LABEL}" TIMEOUT ${T_TIMEOUT})
  strata_test_cost(${T_NAME})
  foreach(label IN LISTS T_LABEL)
    if(NOT TARGET strata_${label}_tests)  # all programs of that label, for tools/test-preset.sh
      add_custom_target(strata_${label}_tests)
    endif()
    add_dependencies(strata_${label}_tests ${target})
  endforeach()
endfunction()

# Tests that take long start first, so that none of them is left over at the end: tests/costs.txt has the seconds of each.
set(costs_file ${PROJECT_SOURCE_DIR}/tests/costs.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${costs_file})
file(STRINGS ${costs_file} lines REGEX "^[a-z]")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^([a-z0-9_]+) +([0-9]+)$" matched "${line}")
  if(NOT matched)
    message(FATAL_ERROR "tests/costs.txt: not understood: ${line}")
  endif()
  set(STRATA_COST_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()
function(strata_test_cost name)
  if(STRATA_COST_${name})
    set_tests_properties(${name} PROPERTIES COST ${STRATA_COST_${name}})
  endif()
endfunction()

# A libFuzzer program, fuzz/<name>; its corpus is tests/fuzz/corpus/<name>. Only in presets asan and fuzz.
#
#   strata_fuzzer(NAME <name> SOURCES <cc>... DEPS <module>... [LIBS <target>...])
function(strata_fuzzer)
  cmake_parse_arguments(F "" "NAME" "SOURCES;DEPS;LIBS" ${ARGN})
  strata_check_unparsed("strata_fuzzer(${F_NAME})" "${F_UNPARSED_ARGUMENTS}")
  if(NOT STRATA_FUZZ)
    return()
  endif()
  set(target strata_${F_NAME}_fuzz)
  add_executable(${target} ${F_SOURCES})
  list(TRANSFORM F_DEPS PREPEND strata_)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE ${F_DEPS} ${F_LIBS} strata_warnings strata_coverage)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz
                                             OUTPUT_NAME ${F_NAME})
  add_dependencies(strata_fuzzers ${target})
endfunction()

# A Google Benchmark program, bench/<name>. Built with everything else, so that it does not rot; `make bench` runs it.
#
#   strata_benchmark(NAME <name> SOURCES <cc>... DEPS <module>... [LIBS <target>...])
function(strata_benchmark)
  cmake_parse_arguments(B "" "NAME" "SOURCES;DEPS;LIBS" ${ARGN})
  strata_check_unparsed("strata_benchmark(${B_NAME})" "${B_UNPARSED_ARGUMENTS}")
  if(NOT STRATA_BENCH)
    return()
  endif()
  set(target strata_${B_NAME}_bench)
  add_executable(${target} ${B_SOURCES})
  list(TRANSFORM B_DEPS PREPEND strata_)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE ${B_DEPS} ${B_LIBS} benchmark::benchmark_main strata_warnings)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench
                                             OUTPUT_NAME ${B_NAME})
  add_dependencies(strata_benchmarks ${target})
endfunction()

# Adds <folder> when it has a CMakeLists.txt; the next build notices when one appears or goes.
function(strata_add_if_present folder)
  file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
  if(found)
    add_subdirectory(${folder})
  endif()
endfunction()

function(strata_check_exists user module)
  if(NOT TARGET strata_${module})
    message(FATAL_ERROR "${user} uses module '${module}', which is not built (yet)")
  endif()
endfunction()

function(strata_check_unparsed where unparsed)
  if(unparsed)
    message(FATAL_ERROR "${where}: not understood: ${unparsed}")
  endif()
endfunction()
