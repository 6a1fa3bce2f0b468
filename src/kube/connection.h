#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "kube/client.h"
#include "kube/kubeconfig.h"

namespace strata::kube {

struct ConnectionOptions {
  std::string user_agent = "strata";
  TokenBucket::Limits write_rate;
};

// The system's time of day.
[[nodiscard]] const Clock& SystemClock();

// A client with all it needs, from a configuration: two transports (reads and watches; writes),
// credentials, and certificates that are read again every minute where they are files. Must outlive
// what uses its client.
class Connection {
 public:
  // Reads the files and runs the login program, if there is one; does not talk to the server yet.
  // Errors name the origin of the configuration and the field.
  [[nodiscard]] static Result<std::unique_ptr<Connection>> Open(const ConnectionConfig& config,
                                                                const ConnectionOptions& options,
                                                                const Surroundings& outside);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  [[nodiscard]] Client& client();
  [[nodiscard]] const ConnectionConfig& config() const;

 private:
  class Impl;
  explicit Connection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::kube
