#include "agent/sysfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace strata::agent {

// By open and opendir, not by streams: ibsim, with which this is tested, stands behind these.
std::string ReadSysfs(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  do {
    got = ::read(file, buffer.data(), buffer.size());
  } while (got < 0 && errno == EINTR);
  ::close(file);
  if (got <= 0) return "";
  const std::string_view text(buffer.data(), static_cast<std::size_t>(got));
  return std::string(text.substr(0, text.find('\n')));
}

std::vector<std::string> ListSysfs(const std::string& path) {
  DIR* const folder = ::opendir(path.c_str());
  if (folder == nullptr) return {};
  std::vector<std::string> names;
  // Nobody else reads this folder stream.
  while (const dirent* entry = ::readdir(folder)) {  // NOLINT(concurrency-mt-unsafe)
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace strata::agent
