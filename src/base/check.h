#pragma once

#include <cstdio>
#include <cstdlib>

// CHECK(condition): a broken invariant is a bug of ours. It ends the process at the place where it
// is seen, in every build type; it is never used on input.
#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) [[unlikely]] {                                                     \
      std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
