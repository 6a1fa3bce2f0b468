#include "device_plugin/socket_folder.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"

namespace strata::device_plugin {
namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

// 0: somebody serves it; else an errno.
int ErrorOfConnect(const std::string& socket) {
  sockaddr_un address{};
  if (socket.size() >= sizeof(address.sun_path)) return ENAMETOOLONG;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket.c_str(), socket.size() + 1);
  const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (client < 0) return errno;
  const auto* plain = reinterpret_cast<const sockaddr*>(&address);  // NOLINT: the system's way
  const int error = ::connect(client, plain, sizeof(address)) == 0 ? 0 : errno;
  ::close(client);
  return error == EAGAIN ? 0 : error;  // its queue is full: it is served
}

void Drain(int file) {
  alignas(inotify_event) std::array<char, 4096> buffer{};
  while (::read(file, buffer.data(), buffer.size()) > 0) {
  }
}

}  // namespace

std::optional<SocketIdentity> IdentityOf(const std::string& socket) {
  struct stat found {};
  if (::stat(socket.c_str(), &found) != 0) return std::nullopt;
  return SocketIdentity{
      .device = found.st_dev,
      .inode = found.st_ino,
      .changed_ns = found.st_ctim.tv_sec * kNanosPerSecond + found.st_ctim.tv_nsec};
}

bool IsServed(const std::string& socket) {
  return ErrorOfConnect(socket) == 0;
}

int RemoveDeadSockets(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> dead;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.starts_with(prefix) && name.ends_with(".sock") &&
        ErrorOfConnect(at->path()) == ECONNREFUSED) {
      dead.push_back(at->path());
    }
  }
  for (const std::string& socket : dead) ::unlink(socket.c_str());
  return static_cast<int>(dead.size());
}

FolderWatch::FolderWatch(std::string folder)
    : folder_(std::move(folder)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  CHECK(wake_ >= 0);
  WatchAnew();
}

FolderWatch::~FolderWatch() {
  ::close(wake_);
  if (inotify_ >= 0) ::close(inotify_);
}

void FolderWatch::WatchAnew() {
  if (inotify_ < 0) return;
  // The watch of a folder that was removed and made again has gone with it; adding one that is
  // there changes nothing.
  watch_ = ::inotify_add_watch(
      inotify_, folder_.c_str(), IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF | IN_ONLYDIR);
}

void FolderWatch::Wait(Duration limit) {
  const std::int64_t most = std::numeric_limits<int>::max();
  const int milliseconds = static_cast<int>(std::clamp<std::int64_t>(limit.count(), 0, most));
  std::array<pollfd, 2> files = {{{.fd = wake_, .events = POLLIN, .revents = 0},
                                  {.fd = inotify_, .events = POLLIN, .revents = 0}}};
  ::poll(files.data(), inotify_ < 0 ? 1 : 2, milliseconds);
  Drain(wake_);
  if (inotify_ >= 0) Drain(inotify_);
  WatchAnew();
}

void FolderWatch::Wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof(one));
}

}  // namespace strata::device_plugin
