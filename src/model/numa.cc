#include "model/numa.h"

namespace strata {

const char* ToString(NumaPolicy policy) {
  switch (policy) {
    case NumaPolicy::kNone:
      return "none";
    case NumaPolicy::kBestEffort:
      return "best-effort";
    case NumaPolicy::kRestricted:
      return "restricted";
    case NumaPolicy::kSingleNumaNode:
      return "single-numa-node";
  }
  return "";
}

}  // namespace strata
