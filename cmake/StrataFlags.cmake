# Compiler flags: warnings for our own code, sanitizers for everything.
add_library(strata_warnings INTERFACE)
target_compile_options(strata_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
  # g++ 12 warns about correct std::string concatenation (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # Where sources are compiled together, g++ takes them for headers.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  $<$<BOOL:${STRATA_WERROR}>:-Werror>)

# g++ collects its garbage whenever its heap has doubled, which takes a tenth of its time: not below 512 MiB.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)

# Debug information takes a tenth of the time to compile. tools/configure.sh leaves it out until it is wanted.
if(NOT STRATA_DEBUG_INFO)
  add_compile_options(-g0)
endif()

# Scores must have the same bits on every machine: no fused multiply-add, no -march=native.
add_compile_options(-ffp-contract=off)

# Checks in the standard library, where speed is not the point.
if(STRATA_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

# What fuzzers are guided by. Compiling it takes a quarter longer, and tests run slower: preset asan has it in the modules that are
# marked FUZZED and in the fuzzers, preset fuzz everywhere.
add_library(strata_coverage INTERFACE)
target_compile_options(strata_coverage INTERFACE $<$<BOOL:${STRATA_FUZZ}>:-fsanitize=fuzzer-no-link>)
if(STRATA_SANITIZE)
  add_compile_options(-fsanitize=${STRATA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${STRATA_SANITIZE})
  # The thread sanitizer does not know fences, and g++ refuses them. Those of Boost.Asio stand beside locks.
  if(STRATA_SANITIZE STREQUAL "thread")
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
  # Instrumented code defeats g++'s data flow analysis.
  target_compile_options(strata_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
