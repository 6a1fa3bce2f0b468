#pragma once

#include "convert/gpu_dialect.h"

namespace strata::agent {

// The annotations in which the agent reads and writes who has which GPU: HAMi's.
[[nodiscard]] inline const GpuNames& RecordNames() {
  return NamesOf(GpuDialect::kHami);
}

}  // namespace strata::agent
