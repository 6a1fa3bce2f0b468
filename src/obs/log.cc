#include "obs/log.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "obs/line_output.h"

namespace strata::obs {
namespace {

constexpr std::string_view kLetters = "IWE";

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

std::string FormatLine(Severity severity,
                       Time now,
                       std::string_view component,
                       std::string_view message,
                       Log::Fields fields) {
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(now - day);
  std::string line = fmt::format("{}{:02}{:02} {:02}:{:02}:{:02}.{:03}000 {}] ",
                                 kLetters[static_cast<std::size_t>(severity)],
                                 static_cast<unsigned>(date.month()),
                                 static_cast<unsigned>(date.day()),
                                 time.hours().count(),
                                 time.minutes().count(),
                                 time.seconds().count(),
                                 time.subseconds().count(),
                                 component);
  AppendQuoted(line, message);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    AppendQuoted(line, field.value);
  }
  return line;
}

void StandardErrorSink::Write(std::string_view line) {
  static LineOutput output(STDERR_FILENO);  // a process has one
  output.Write(line);
}

void RecentLines::Write(std::string_view line) {
  std::vector<std::shared_ptr<std::function<void()>>> awake;
  {
    const MutexLock lock(mutex_);
    lines_.emplace_back(line);
    bytes_ += line.size();
    while (bytes_ > max_bytes_ && lines_.size() > 1) {
      bytes_ -= lines_.front().size();
      lines_.pop_front();
      ++first_;
    }
    std::erase_if(listeners_, [](const auto& listener) { return listener.expired(); });
    for (const auto& listener : listeners_) {
      if (auto alive = listener.lock()) awake.push_back(std::move(alive));
    }
  }
  for (const auto& listener : awake) (*listener)();
}

RecentLines::Read RecentLines::FromLocked(std::uint64_t from) const {
  Read read;
  const std::uint64_t end = first_ + lines_.size();
  for (std::uint64_t i = std::max(from, first_); i < end; ++i) {
    read.lines.push_back(lines_[i - first_]);
  }
  read.next = std::max(from, end);
  return read;
}

RecentLines::Read RecentLines::Since(std::uint64_t from) const {
  const MutexLock lock(mutex_);
  return FromLocked(from);
}

RecentLines::Read RecentLines::Last(std::size_t count) const {
  const MutexLock lock(mutex_);
  const std::uint64_t end = first_ + lines_.size();
  return FromLocked(end - std::min<std::uint64_t>(count, lines_.size()));
}

RecentLines::Token RecentLines::Subscribe(std::function<void()> listener) {
  auto token = std::make_shared<std::function<void()>>(std::move(listener));
  const MutexLock lock(mutex_);
  listeners_.push_back(token);
  return token;
}

void Log::Line(Severity severity, std::string_view message, Fields fields) const {
  const std::string line = FormatLine(severity, clock_.Now(), component_, message, fields);
  for (LogSink* sink : sinks_) sink->Write(line);
}

void Log::Info(std::string_view message, Fields fields) const {
  Line(Severity::kInfo, message, fields);
}

void Log::Warning(std::string_view message, Fields fields) const {
  Line(Severity::kWarning, message, fields);
}

void Log::Error(std::string_view message, Fields fields) const {
  Line(Severity::kError, message, fields);
}

}  // namespace strata::obs
