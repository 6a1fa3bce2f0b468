#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "base/clock.h"

namespace strata::device_plugin {

// The folder in which the kubelet and device plugins have their sockets.

// What tells one socket from a later one of the same name. Numbers of files are used again at once,
// so the time of the change belongs to it.
struct SocketIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;

  bool operator==(const SocketIdentity&) const = default;
};
// None when there is no such file.
[[nodiscard]] std::optional<SocketIdentity> IdentityOf(const std::string& socket);

// Whether a process accepts connections there. At once.
[[nodiscard]] bool IsServed(const std::string& socket);

// The sockets that an earlier agent left behind: "<prefix>*.sock" in the folder that nobody serves.
// Returns how many were removed.
int RemoveDeadSockets(const std::string& folder, const std::string& prefix);

// Notices that something was made or removed in a folder, and can be woken. The folder itself may
// go and come back.
class FolderWatch {
 public:
  explicit FolderWatch(std::string folder);
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;
  ~FolderWatch();

  // Returns when something has changed, after Wake, or after `limit`. By one thread.
  void Wait(Duration limit);
  // From any thread; a later Wait returns at once.
  void Wake() const;

 private:
  void WatchAnew();

  const std::string folder_;
  int wake_ = -1;     // an eventfd
  int inotify_ = -1;  // -1 where the system has none left: Wait then ends by its limit
  int watch_ = -1;
};

}  // namespace strata::device_plugin
