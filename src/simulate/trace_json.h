#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "whatif/cycle_trace.h"

namespace strata {

// One record as one line of JSON, without the newline, in the form of `simulate --trace`.
[[nodiscard]] std::string ToJsonLine(std::int32_t cycle, const TraceRecord& record);

// Writes each record as it comes. `out` must outlive the writer; its error state is the caller's to
// look at.
class JsonLinesTrace final : public CycleTrace {
 public:
  explicit JsonLinesTrace(std::ostream& out) : out_(out) {}

  void BeginCycle(std::int32_t cycle) override { cycle_ = cycle; }
  void Record(TraceRecord record) override { out_ << ToJsonLine(cycle_, record) << '\n'; }

 private:
  std::ostream& out_;
  std::int32_t cycle_ = 0;
};

}  // namespace strata
