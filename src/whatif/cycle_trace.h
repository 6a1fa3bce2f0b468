#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sched/trace.h"

namespace strata {

// A listener that also hears where each cycle begins.
class CycleTrace : public TraceSink {
 public:
  virtual void BeginCycle(std::int32_t cycle) = 0;  // counted from 1
};

// Keeps every record.
class TraceLog final : public CycleTrace {
 public:
  struct Entry {
    std::int32_t cycle = 0;
    TraceRecord record;
  };

  void BeginCycle(std::int32_t cycle) override { cycle_ = cycle; }
  void Record(TraceRecord record) override { entries_.push_back({cycle_, std::move(record)}); }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::int32_t cycle_ = 0;
  std::vector<Entry> entries_;
};

// Passes everything on to several listeners, which must outlive it.
class TraceTee final : public CycleTrace {
 public:
  void Add(CycleTrace& listener) { listeners_.push_back(&listener); }
  [[nodiscard]] bool empty() const { return listeners_.empty(); }

  void BeginCycle(std::int32_t cycle) override {
    for (CycleTrace* listener : listeners_) listener->BeginCycle(cycle);
  }
  void Record(TraceRecord record) override {
    for (CycleTrace* listener : listeners_) listener->Record(record);
  }
  [[nodiscard]] bool WantsNodes() const override {
    return std::any_of(listeners_.begin(), listeners_.end(), [](const CycleTrace* listener) {
      return listener->WantsNodes();
    });
  }

 private:
  std::vector<CycleTrace*> listeners_;
};

}  // namespace strata
