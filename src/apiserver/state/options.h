#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/request/api_error.h"
#include "base/clock.h"

// What an API server is given by the program around it.
namespace strata::apiserver {

// Timers on the server's loop; net::EventLoop has the same calls.
class Timers {
 public:
  using Id = std::uint64_t;
  virtual ~Timers() = default;
  virtual Id After(Duration delay, std::function<void()> callback) = 0;
  virtual void Cancel(Id timer) = 0;  // nothing when it has fired
  // Since some moment of the past, by the clock of the timers, which nobody can set.
  [[nodiscard]] virtual Duration Elapsed() const = 0;
};

// Where uids and generated names come from.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  virtual std::uint64_t Next() = 0;
};

struct LogRequest {
  std::string ns;
  std::string pod;
  std::string container;  // "" for the only one
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines;
};
// The text of a container's log, also of one that no node runs.
using LogReader = std::function<ApiResult<std::string>(const LogRequest&)>;

// A container's log that may still grow. Lives on the server's loop; its reader owns it.
class LogStream {
 public:
  enum class More : bool { kLater, kEnd };
  LogStream() = default;
  LogStream(const LogStream&) = delete;
  LogStream& operator=(const LogStream&) = delete;
  virtual ~LogStream() = default;

  // Appends what was not read yet, some 64 KiB at a time; nothing when there is nothing for now.
  // kEnd when that was all there will ever be.
  virtual More Read(std::string& out) = 0;
};
// `wake` is to be called on the loop, not from within Read, when a stream that had nothing has more
// or has ended. It may outlive the stream and then does nothing.
using LogFollower = std::function<ApiResult<std::unique_ptr<LogStream>>(
    const LogRequest&, std::function<void()> wake)>;

struct ApiServerOptions {
  std::string address = "127.0.0.1:0";  // what clients reach it by, for /api
  std::string version = "v1.32.0";      // gitVersion of /version
  // Without one every container has an empty log.
  LogReader logs;
  // For `kubectl logs -f`. Without one a client that follows gets what `logs` has, and the end.
  LogFollower follow_logs;
  // Whether new objects get metadata.managedFields. Without it an object has no owners until the
  // first server-side apply, as in Kubernetes, and takes about half the space.
  bool records_owners = true;
  // Events are deleted when nobody has written them for so long; 0: never.
  Duration event_ttl = std::chrono::hours(1);
};

}  // namespace strata::apiserver
