#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/request/api_error.h"
#include "apiserver/resources/resource.h"
#include "apiserver/store/object_store.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/http_server.h"

namespace strata::apiserver {

// Timers on the server's loop; net::EventLoop has the same calls.
class Timers {
 public:
  using Id = std::uint64_t;
  virtual ~Timers() = default;
  virtual Id After(Duration delay, std::function<void()> callback) = 0;
  virtual void Cancel(Id timer) = 0;  // nothing when it has fired
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

// A container's log that may still grow. Lives on the server's loop and goes when its reader does.
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
};

// A Kubernetes API server behind an HTTP server: what a request means, and what it is answered.
// Who asks is not its matter (authentication comes before it); everybody may do everything.
//
// Lives on one loop; everything it is given must outlive it.
class ApiServer {
 public:
  ApiServer(ObjectStore& store,
            Timers& timers,
            const Clock& clock,
            RandomSource& random,
            ApiServerOptions options);
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;
  ~ApiServer();

  // Writes what a new cluster is born with (namespaces, queues, Volcano's
  // CustomResourceDefinitions) where it is missing, and serves every definition that the store
  // holds. Before the first Handle.
  [[nodiscard]] Status Start();

  void Handle(std::shared_ptr<net::Exchange> exchange);

  // The Status that a refusal of the HTTP layer (413, 400, ...) is answered with.
  [[nodiscard]] static net::HttpResponse Refusal(int status);
  // 401, for whoever checks tokens in front of Handle.
  [[nodiscard]] static net::HttpResponse Unauthorized();

  [[nodiscard]] const ResourceTable& table() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::apiserver
