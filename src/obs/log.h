#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/mutex.h"

// What the running system tells its operator. Lines look as those of every Kubernetes component:
//
//   I1115 21:12:42.123000 scheduler] "gang bound" job="default/train" hyperNode="s4"
namespace strata::obs {

enum class Severity : std::uint8_t { kInfo, kWarning, kError };

struct LogField {
  template <typename T>
  LogField(std::string_view field_key, const T& field_value)
      : key(field_key), value(fmt::format("{}", field_value)) {}

  std::string_view key;
  std::string value;
};

// Where lines go. Write is called from many threads.
class LogSink {
 public:
  LogSink() = default;
  LogSink(const LogSink&) = delete;
  LogSink& operator=(const LogSink&) = delete;
  virtual ~LogSink() = default;

  // One line, without its line end.
  virtual void Write(std::string_view line) = 0;
};

// Standard error. A reader of it that stops reading blocks nobody (line_output.h). Thread-safe.
class StandardErrorSink : public LogSink {
 public:
  void Write(std::string_view line) override;
};

// The last lines, in memory: what `kubectl logs` shows of a component that runs inside this
// process. Thread-safe.
class RecentLines : public LogSink {
 public:
  explicit RecentLines(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  void Write(std::string_view line) override;

  struct Read {
    std::vector<std::string> lines;
    std::uint64_t next = 0;  // where to go on
  };
  // The lines from number `from` on that are still kept; the first line ever is number 0.
  [[nodiscard]] Read Since(std::uint64_t from) const;
  // The last `count` lines.
  [[nodiscard]] Read Last(std::size_t count) const;

  // Calls `listener` after each line, on the thread that wrote it, until the token goes.
  using Token = std::shared_ptr<void>;
  [[nodiscard]] Token Subscribe(std::function<void()> listener);

 private:
  [[nodiscard]] Read FromLocked(std::uint64_t from) const REQUIRES(mutex_);

  const std::size_t max_bytes_;
  mutable Mutex mutex_;
  std::deque<std::string> lines_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t first_ GUARDED_BY(mutex_) = 0;  // number of lines_.front()
  std::vector<std::weak_ptr<std::function<void()>>> listeners_ GUARDED_BY(mutex_);
};

// The voice of one component. Thread-safe; sinks and clock outlive it.
class Log {
 public:
  Log(std::string component, const Clock& clock, std::vector<LogSink*> sinks)
      : component_(std::move(component)), clock_(clock), sinks_(std::move(sinks)) {}

  // Whether lines of that verbosity (-v) are wanted: ask before making an expensive one.
  [[nodiscard]] bool On(int verbosity) const {
    return verbosity <= verbosity_.load(std::memory_order_relaxed);
  }
  void set_verbosity(int verbosity) { verbosity_.store(verbosity, std::memory_order_relaxed); }
  [[nodiscard]] int verbosity() const { return verbosity_.load(std::memory_order_relaxed); }

  using Fields = std::initializer_list<LogField>;
  // `message` is constant, what differs is in the fields.
  void Info(std::string_view message, Fields fields = {}) const;
  void Warning(std::string_view message, Fields fields = {}) const;
  void Error(std::string_view message, Fields fields = {}) const;

 private:
  void Line(Severity severity, std::string_view message, Fields fields) const;

  const std::string component_;
  const Clock& clock_;
  const std::vector<LogSink*> sinks_;
  std::atomic<int> verbosity_{0};
};

// The line of the example above. Line ends and other control characters in values are escaped, so
// that one call is one line.
[[nodiscard]] std::string FormatLine(Severity severity,
                                     Time now,
                                     std::string_view component,
                                     std::string_view message,
                                     Log::Fields fields);

}  // namespace strata::obs
