#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace strata::os {

// A log that only its owner may read, to which lines are appended. When the file has been moved
// away or deleted (logrotate), the next line begins a new one. Not thread-safe.
class AppendFile {
 public:
  // kUnavailable, naming the path, when it cannot be opened, or is a link.
  [[nodiscard]] static Result<AppendFile> Open(std::string path);
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&&) = delete;
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  // Appends `text` and a newline; does not wait for the disk.
  [[nodiscard]] Status AppendLine(std::string_view text);

 private:
  explicit AppendFile(std::string path);

  [[nodiscard]] Status Reopen();
  [[nodiscard]] bool HasMoved() const;

  std::string path_;
  int file_ = -1;
};

}  // namespace strata::os
