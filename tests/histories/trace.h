#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "obs/log.h"
#include "tests/histories/timeline.h"

namespace strata::histories {

// What happened, a line each: "12.345 scheduler-0 killed". The same seed gives the same bytes.
class Trace {
 public:
  explicit Trace(const Timeline& timeline) : timeline_(timeline) {}

  void Say(std::string_view who, std::string_view what) {
    const auto ms = timeline_.now().time_since_epoch().count();
    fmt::format_to(std::back_inserter(text_), "{}.{:03} {} {}\n", ms / 1000, ms % 1000, who, what);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  const Timeline& timeline_;
  std::string text_;
};

// The lines of a process's log.
class TraceSink final : public obs::LogSink {
 public:
  TraceSink(Trace& trace, std::string who) : trace_(trace), who_(std::move(who)) {}
  void Write(std::string_view line) override { trace_.Say(who_, line); }

 private:
  Trace& trace_;
  const std::string who_;
};

}  // namespace strata::histories
